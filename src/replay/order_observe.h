// SPDX-License-Identifier: GPL-2.0-or-later
// Shows the effect of one access on all caches: for lessons, and for counts that distinguish more than the
// model's statistics.
#pragma once
#include <optional>
#include <vector>

#include "memory/hierarchy.h"
#include "replay/order.h"

namespace s80::replay {

/// Which caches of a core hold a line, and the state of the line in that core. A group cache holds a line as
/// an L2 does.
struct Held {
    model::State state = 0;
    bool l1i = false;
    bool l1d = false;
    bool l2 = false;
    bool l1() const { return l1i || l1d; }
    bool any() const { return l1() || l2; }
    bool operator==(const Held&) const = default;
};

/// How the copy of a line in one core changed by an access.
struct Change {
    unsigned core = 0;
    model::Line line = 0;
    Held before;
    Held after;
};

/// What the home did for one request or put (HomeEvent): the state of the line at the home, and the copies
/// that the home recalled.
struct AtHome {
    model::HomeEvent event = model::HomeEvent::read;
    model::Line line = 0;
    /// Core that made the request or gave up its copy; kNobody: none.
    model::CoreNumber core = model::kNobody;
    model::HomeState before = 0;
    model::HomeState after = 0;
    std::vector<Change> recalled;
};

/// A block moved between a core and its group cache, or the group cache evicted it (to: nobody).
struct GroupMove {
    model::Line line = 0;
    unsigned from = 0;
    model::CoreNumber to = model::kNobody;
    model::State state = 0;
};

struct Effect {
    unsigned core = 0;
    model::Kind kind = model::Kind::load;
    model::Line line = 0;
    unsigned stall = 0;
    /// The requesting core did not have the line, or evicted it to make room before it looked for the line.
    bool missed = false;
    Held before;  ///< the requester's copy before the access; nothing is set after a miss
    Held after;
    model::Bus bus = model::Bus::none;
    /// The core that sent the data. Nothing: memory sent the data, or no data were needed.
    std::optional<unsigned> supplier;
    model::State supplied_in = 0;  ///< state of the supplier's copy before the access
    std::vector<Change> remote;  ///< the line's copies before the access in all other cores and group caches
    /// Other lines of the requester that changed their place or state. Also the line itself if it was evicted
    /// before the miss.
    std::vector<Change> moved;
    /// Used if the home plays the protocol's table [home], and not only a bus:
    bool has_home = false;
    bool from_llc = false;      ///< the data came from the last-level cache
    bool after_recall = false;  ///< the core missed because the home had recalled its copy
    std::vector<AtHome> at_home;
    /// Of machines with group caches: in the order in which the blocks moved.
    bool has_groups = false;
    bool from_group = false;  ///< the group cache of the core gave the block up
    std::vector<GroupMove> group;
};

/// Plays accesses on a hierarchy, and finds the effect of each: from the outcome, from the copies of the line
/// before and after, and from what the hierarchy reports about moved lines (MoveListener).
class Observed final : public model::MoveListener {
public:
    explicit Observed(model::Hierarchy& hierarchy) : hierarchy_(hierarchy) { hierarchy_.listen(this); }
    ~Observed() override { hierarchy_.listen(nullptr); }
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;

    /// Plays one access and returns its effect, which is valid until the next call.
    const Effect& access(const Access& access);

    void leaving(unsigned core, model::Line line) override;
    void moving(unsigned from, unsigned to, model::Line line) override;
    void recalling(unsigned core, model::Line line) override;
    void at_home(model::HomeEvent event, model::Line line, model::CoreNumber core, model::HomeState before,
                 model::HomeState after) override;

private:
    Held held(unsigned core, model::Line line) const;
    unsigned rank(model::Line line) const;
    Change* moved(unsigned core, model::Line line);

    model::Hierarchy& hierarchy_;
    Effect effect_;
    std::vector<unsigned> ranks_;  ///< rank() of each line in effect_.moved, in ascending order
    /// Recalled copies, until the home reports the event for which it recalled them.
    std::vector<Change> recalling_;
};

}  // namespace s80::replay
