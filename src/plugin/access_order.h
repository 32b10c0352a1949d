// SPDX-License-Identifier: GPL-2.0-or-later
// The order of conflicting accesses: ordering edges, and the time that a processor waits at them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/conflicts.h"
#include "plugin/epoch_writer.h"
#include "plugin/vcpu.h"
#include "stream/event.h"
#include "timing/rules.h"

namespace s80::plugin {

/// Owns the record of conflicting accesses (Conflicts) and the edges of this epoch. Epochs calls
/// access_alone() for each access that a processor's stream records, access() if that returns false, stall()
/// after an access that takes time, and number_edges() and begin_epoch() where an epoch ends.
class AccessOrder {
public:
    /// `lines`: of the guest's memory. The references must outlive this object.
    AccessOrder(const model::TimeRules& rules, const VcpuList& vcpus, EpochWriter& writer, std::size_t lines);

    /// `vcpu` loads, stores or walks, at its present instruction. Writes the access, and returns true, if it
    /// conflicts with none because no other processor has accessed the line of late: nearly all accesses.
    bool access_alone(Vcpu& vcpu, model::Line line, model::Kind kind) {
        if (!conflicts_.finds_nothing(vcpu.processor, line, kind)) {
            return false;
        }
        writer_.add(vcpu, model::Event::access(kind, line));
        return true;
    }
    /// Any access. Writes it after the edges to the accesses that it conflicts with, and adds the waits at
    /// these edges to the expected time of `vcpu`.
    Conflicts::Found access(Vcpu& vcpu, model::Line line, model::Kind kind);
    /// `found`: of the access that is the last event of `vcpu`. Adds the stall of the transfer or upgrade to
    /// the expected time of `vcpu`, and keeps the time of a store for later accesses.
    void stall(Vcpu& vcpu, const Conflicts::Found& found) const;

    /// The epoch ends: writes into each edge the number of the event that it waits for, and marks these
    /// events. The streams are still open.
    void number_edges();
    void begin_epoch();

private:
    /// An ordering edge of the open epoch. Awaited events get their numbers when the epoch ends; until then
    /// the edge has the position of the awaited event in its stream.
    struct Order {
        unsigned processor = 0;
        std::size_t position = 0;  ///< of the ordering event in the stream of `processor`
        model::Edge edge;          ///< its number is the position of the access that comes before it
    };
    /// The edges of one processor's stream in this epoch.
    struct Edges {
        std::vector<std::uint32_t> awaited;  ///< positions in its stream that edges of other processors name
        /// By processor: the last position in its stream that this processor waits for, plus one.
        std::vector<std::uint32_t> waits_until;
        std::int64_t behind = 0;  ///< see TimeRules::keeps_behind
    };

    void order(Vcpu& vcpu, model::Line line, const Conflicts::Found& found);
    bool wait_for(Vcpu& vcpu, const model::Edge& edge);
    void spend_wait(Vcpu& vcpu, model::Wait kind, std::int64_t until);
    std::int64_t time(unsigned processor) const {
        return vcpus_[processor]->time() + edges_[processor].behind;
    }
    void collect_awaited();
    std::uint32_t number(unsigned processor, std::uint32_t position) const;

    const model::TimeRules& rules_;
    const VcpuList& vcpus_;
    EpochWriter& writer_;
    Conflicts conflicts_;
    std::vector<Order> orders_;
    std::vector<Edges> edges_;  ///< by processor
};

}  // namespace s80::plugin
