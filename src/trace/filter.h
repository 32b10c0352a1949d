// SPDX-License-Identifier: GPL-2.0-or-later
// What a core's private L1s absorb under every invalidation protocol and behind every L2 need not be
// captured: the filter keeps those L1s beside the player and lets through misses and requests for permission.
//
// In played order, by core: a load, fetch or walk is absorbed when the L1 holds the line, a store when it
// holds it with write permission, which only a store of the same core gives. Another core's store drops the
// line. The first load or fetch of another core after this core's store leaves it in doubt, in both L1s:
// whether such a block stays readable or migrates is the protocol's affair, so this core's next access to it
// is let through. The line keeps its way meanwhile, as under the protocols that leave it there, so that what
// the L1s replace is what the machine's do. Who stored is kept beside the L1s: the block is modified also
// after an own fetch took the write permission, or after the line left the L1D and was loaded again. Within a
// core a store drops the instruction copy and a fetch takes the write permission, as in the model.
#pragma once
#include <vector>

#include "model/machine.h"
#include "model/player.h"
#include "trace/filter_cache.h"

namespace s80::trace {

class L1Filter final : public model::Observer {
public:
    explicit L1Filter(const model::Machine& machine);

    void event(unsigned processor, const model::Event& event, std::int64_t clock) override;
    void end(const model::Window& window) override;

    /// The window played last, placed: valid until the next event.
    const model::Window& window() const { return window_; }

private:
    /// What was played is looked at some hundred events later: by then the host has fetched the sets.
    struct Seen {
        model::Event event;
        std::uint8_t processor;
    };
    void drain();
    /// The way of the L1 that the access fills or finds, or kAbsorbed.
    unsigned access(unsigned core, model::Line line, model::Kind kind);
    unsigned store(unsigned core, model::Line line, unsigned way);
    unsigned read(unsigned core, model::Line line, bool fetch, unsigned way);
    void emit(unsigned processor, model::Event event);

    /// The core that stored to the line since another one accessed it, or kNobody.
    std::uint8_t& storer(model::Line line);

    static constexpr unsigned kAbsorbed = ~0U;
    static constexpr std::uint8_t kNobody = 0xff;
    FilterCaches code_;                  ///< L1Is
    FilterCaches data_;                  ///< L1Ds
    std::vector<std::uint8_t> storers_;  ///< by line, up to the highest one asked for
    std::vector<std::uint8_t> core_;     ///< by processor
    std::vector<Seen> seen_;
    std::size_t waiting_ = 0;  ///< of seen_
    std::vector<std::uint64_t>
        passed_;  ///< by processor: instructions since its last event that was let through
    model::Window window_;
    bool ended_ = true;  ///< window_ is the one played last
};

}  // namespace s80::trace
