// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out which accesses an L1-filtered capture must contain. It leaves out accesses that the core's
// private L1 absorbs (completes without a request) under every invalidation protocol, and with every L2. The
// filter observes the timing merger and has a model of these L1s. It passes misses and requests for write
// permission on to the capture.
//
// Rules for each core, in the order in which accesses are played:
// - A load, fetch or page walk is absorbed if the L1 holds the line.
// - A store is absorbed if the L1 holds the line with write permission. Only a store of the same core gives
//   this permission.
// - A store of another core removes the line.
// - When another core reads the line after this core's store, the line becomes doubtful in both L1s of this
//   core: the protocol decides whether the block stays readable or moves to the reader. So this core's next
//   access to the line is passed. The line keeps its way until then, as it does under protocols that let the
//   block stay, so that the filter's L1s replace the same lines as the machine's.
// - Which core stored to a line last is recorded outside of the L1s. The block may be modified although the
//   core's own fetch has taken the write permission, or although the line has left the L1D and was loaded
//   again.
// - Within a core, as in the model, a store removes the line from the L1I, and a fetch takes the write
//   permission.
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

    /// The epoch that was played last, in L1-filtered form. Valid until the next event.
    const model::Epoch& epoch() const { return epoch_; }

private:
    /// A played event that waits to be processed. The filter processes several hundred events at once, so
    /// that the host can prefetch the sets that they need.
    struct Seen {
        model::Event event;
        std::uint8_t processor;
    };
    void drain();
    /// Plays an access on the L1s. Returns the way of the L1 that it finds or fills, or kAbsorbed if the
    /// access is left out.
    unsigned access(unsigned core, model::Line line, model::Kind kind);
    unsigned store(unsigned core, model::Line line, unsigned way);
    unsigned read(unsigned core, model::Line line, bool fetch, unsigned way);
    void emit(unsigned processor, model::Event event);

    /// The core that has stored to the line, if no other core has accessed it since; otherwise kNobody.
    model::CoreNumber& storer(model::Line line);

    static constexpr unsigned kAbsorbed = ~0U;
    FilterCaches code_;  ///< the L1Is of all cores
    FilterCaches data_;  ///< the L1Ds of all cores
    /// See storer(); by line, as far as lines were stored to or read.
    std::vector<model::CoreNumber> storers_;
    std::vector<std::uint8_t> core_;  ///< core of each processor
    std::vector<Seen> seen_;
    std::size_t waiting_ = 0;            ///< number of valid events in seen_
    std::vector<std::uint64_t> passed_;  ///< by processor: instructions since the last event that was passed
    model::Epoch epoch_;
    bool ended_ = true;  ///< epoch_ is complete
};

}  // namespace s80::trace
