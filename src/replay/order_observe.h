// SPDX-License-Identifier: GPL-2.0-or-later
// The effect of one access on all caches, for teaching and for counts in finer categories than the model's
// statistics.
#pragma once
#include <optional>
#include <vector>

#include "memory/hierarchy.h"
#include "replay/order.h"

namespace s80::replay {

/// The cache of a core that holds a line, and the state of the line there.
struct Held {
    model::State state = 0;
    bool l1i = false;
    bool l1d = false;
    bool l2 = false;
    bool l1() const { return l1i || l1d; }
    bool any() const { return l1() || l2; }
    bool operator==(const Held&) const = default;
};

/// One line of one core, before and after the access.
struct Change {
    unsigned core = 0;
    model::Line line = 0;
    Held before;
    Held after;
};

/// What the home did with one line, and the copies that it recalled for it.
struct AtHome {
    model::HomeEvent event = model::HomeEvent::read;
    model::Line line = 0;
    model::CoreNumber core = model::kNobody;  ///< the core that made the request or gave up its copy
    model::HomeState before = 0;
    model::HomeState after = 0;
    std::vector<Change> recalled;
};

struct Effect {
    unsigned core = 0;
    model::Kind kind = model::Kind::load;
    model::Line line = 0;
    unsigned stall = 0;
    /// The line was not in this core's caches, or was evicted to make room before it was found.
    bool missed = false;
    Held before;  ///< the requester's copy before the access; all false after a miss
    Held after;
    model::Bus bus = model::Bus::none;
    /// The core that sent the data; none: memory sent them, or no data were needed.
    std::optional<unsigned> supplier;
    model::State supplied_in = 0;  ///< the supplier's state before the access
    std::vector<Change> remote;    ///< the line in all other cores that held it
    /// Other lines of the requester that changed place or state (and the line itself if it was evicted
    /// first).
    std::vector<Change> moved;
    /// Of machines whose home plays the protocol's [home].
    bool has_home = false;
    bool from_llc = false;      ///< the last-level cache sent the data
    bool after_recall = false;  ///< the core's last copy of the line was recalled
    std::vector<AtHome> at_home;
};

/// Plays accesses and collects the effect of each: the outcome, the copies of the line before and after, and
/// the lines that the hierarchy reports as moved.
class Observed final : public model::MoveListener {
public:
    explicit Observed(model::Hierarchy& hierarchy) : hierarchy_(hierarchy) { hierarchy_.listen(this); }
    ~Observed() override { hierarchy_.listen(nullptr); }
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;

    /// Plays one access. The result is valid until the next call.
    const Effect& access(const Access& access);

    void leaving(unsigned core, model::Line line) override;
    void recalling(unsigned core, model::Line line) override;
    void at_home(model::HomeEvent event, model::Line line, model::CoreNumber core, model::HomeState before,
                 model::HomeState after) override;

private:
    Held held(unsigned core, model::Line line) const;
    unsigned rank(model::Line line) const;
    Change* moved(unsigned core, model::Line line);

    model::Hierarchy& hierarchy_;
    Effect effect_;
    std::vector<unsigned> ranks_;    ///< rank() of the moved lines
    std::vector<Change> recalling_;  ///< recalls of the cell that the home plays
};

}  // namespace s80::replay
