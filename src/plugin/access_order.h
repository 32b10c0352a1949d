// SPDX-License-Identifier: GPL-2.0-or-later
// The order of conflicting accesses: writes ordering edges (events that make one processor wait for an access
// of another one), and computes how long a processor waits at them.
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

/// Owns the record of conflicting accesses (Conflicts) and the ordering edges of the open epoch. `Epochs` is
/// the only caller. For each access that it records, `Epochs` calls access_alone(); if that returns false, it
/// calls access(). It calls stall() after an access that missed or needed an upgrade, and number_edges() and
/// begin_epoch() at the end of an epoch.
class AccessOrder {
public:
    /// `rules`: those of the recording side. `lines`: number of lines of the guest's memory. The references
    /// must outlive this object.
    AccessOrder(const model::TimeRules& rules, const VcpuList& vcpus, EpochWriter& writer, std::size_t lines);

    /// The common case of access(): no other processor has accessed the line in this epoch or the last, so
    /// the access conflicts with nothing. Writes the access, at the present instruction of `vcpu`, and
    /// returns true. Returns false, and writes nothing, if the access may conflict.
    bool access_alone(Vcpu& vcpu, model::Line line, model::Kind kind) {
        if (!conflicts_.finds_nothing(vcpu.processor, line, kind)) {
            return false;
        }
        writer_.add(vcpu, model::Event::access(kind, line));
        return true;
    }
    /// Writes a load, store or page walk of `vcpu`, after an ordering edge to each access that it conflicts
    /// with. Adds the waits at these edges to the expected time of `vcpu`. Returns what the access conflicts
    /// with.
    Conflicts::Found access(Vcpu& vcpu, model::Line line, model::Kind kind);
    /// `found`: what access() returned for the last event of `vcpu`. Adds the stall of a transfer or upgrade
    /// to the expected time of `vcpu`. Records the expected time of a store, which later accesses wait for.
    void stall(Vcpu& vcpu, const Conflicts::Found& found) const;

    /// Call it at the end of an epoch, before the streams are handed over. Writes into each edge the number
    /// of the event that the edge waits for, and marks these events as awaited.
    void number_edges();
    void begin_epoch();

private:
    /// An ordering edge of the open epoch. A file or the timing merger names an awaited event by its number
    /// among the awaited events of its stream. These numbers are known only when the epoch ends. Until then,
    /// the edge holds the event's position in its stream.
    struct Order {
        unsigned processor = 0;
        std::size_t position = 0;  ///< position of the edge's own event in the stream of `processor`
        model::Edge edge;          ///< the awaited event; `edge.number` is its position, not yet its number
    };
    /// Edges to and from one processor's stream in this epoch.
    struct Edges {
        /// Positions in this stream that edges of other processors wait for.
        std::vector<std::uint32_t> awaited;
        /// By other processor: the last position in its stream that an edge of this processor waits for, plus
        /// one. 0: no edge yet.
        std::vector<std::uint32_t> waits_until;
        std::int64_t behind = 0;  ///< waits of this epoch that are not charged: see TimeRules::keeps_behind
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
