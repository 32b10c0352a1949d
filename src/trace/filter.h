// SPDX-License-Identifier: GPL-2.0-or-later
// Removes accesses that a core's private L1s absorb under every invalidation protocol and in front of every
// L2, because a capture need not contain them. The filter models those L1s next to the timing merger, and
// passes misses and requests for write permission.
//
// Rules, in played order, by core: a load, fetch or walk is absorbed if the L1 holds the line. A store is
// absorbed if the L1 holds the line with write permission, which only a store of the same core gives.
// Another core's store removes the line. The first load or fetch of another core after this core's store
// makes the line doubtful in both L1s: the protocol decides whether such a block stays readable or migrates,
// so this core's next access to it is passed. The line keeps its way meanwhile, as under the protocols that
// leave it there, so that the L1s replace the same lines as the machine's L1s. The storing core is recorded
// outside of the L1s: the block is modified even after the core's own fetch took the write permission, or
// after the line left the L1D and was loaded again. Within a core a store removes the instruction copy, and
// a fetch takes the write permission, as in the model.
#pragma once
#include <vector>

#include "machine/machine.h"
#include "timing/merger.h"
#include "trace/filter_cache.h"

namespace s80::trace {

class L1Filter final : public model::Observer {
public:
    explicit L1Filter(const model::Machine& machine);

    void event(unsigned processor, const model::Event& event, std::int64_t clock) override;
    void end(const model::Epoch& epoch) override;

    /// The epoch played last, in L1-filtered form. Valid until the next event.
    const model::Epoch& epoch() const { return epoch_; }

private:
    /// An access that was played. The filter processes it some hundred events later, when the host has
    /// prefetched the sets.
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

    /// The core that stored to the line since another core accessed it, or kNobody.
    model::CoreNumber& storer(model::Line line);

    static constexpr unsigned kAbsorbed = ~0U;
    FilterCaches code_;                       ///< L1Is
    FilterCaches data_;                       ///< L1Ds
    std::vector<model::CoreNumber> storers_;  ///< by line, up to the highest one asked for
    std::vector<std::uint8_t> core_;          ///< by processor
    std::vector<Seen> seen_;
    std::size_t waiting_ = 0;            ///< number of accesses in seen_
    std::vector<std::uint64_t> passed_;  ///< by processor: instructions since its last passed event
    model::Epoch epoch_;
    bool ended_ = true;  ///< whether the epoch has ended, so that epoch_ is complete
};

}  // namespace s80::trace
