// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/access_order.h"

#include <algorithm>

namespace s80::plugin {

using model::Event;
using model::Kind;
using model::Wait;

AccessOrder::AccessOrder(const model::TimeRules& rules, const VcpuList& vcpus, EpochWriter& writer,
                         std::size_t lines)
    : rules_(rules),
      vcpus_(vcpus),
      writer_(writer),
      conflicts_(lines, writer),
      edges_(vcpus.size(), Edges{{}, std::vector<std::uint32_t>(vcpus.size(), 0), 0}) {}

Conflicts::Found AccessOrder::access(Vcpu& vcpu, model::Line line, Kind kind) {
    const auto expected = static_cast<std::uint32_t>(vcpu.stream.position());
    const Conflicts::Found found = kind == Kind::store ? conflicts_.store(vcpu.processor, line, expected)
                                                       : conflicts_.load(vcpu.processor, line);
    if (found.storer != Conflicts::Found::kNobody || found.storer_before != Conflicts::Found::kNobody ||
        !found.readers.empty()) [[unlikely]] {
        order(vcpu, line, found);
    }
    writer_.add(vcpu, Event::access(kind, line));
    const auto position = static_cast<std::uint32_t>(vcpu.stream.position()) - 1;
    if (kind == Kind::store && position != expected) [[unlikely]] {
        conflicts_.moved(line, position);
    }
    return found;
}

/// Writes an edge to each earlier access that the next access of `vcpu` conflicts with, and adds the waits at
/// these edges to the expected time of `vcpu`. `found`: these earlier accesses.
void AccessOrder::order(Vcpu& vcpu, model::Line line, const Conflicts::Found& found) {
    if (found.storer != Conflicts::Found::kNobody) {
        const Wait kind = vcpu.slice.paused ? Wait::later : Wait::transfer;
        bool written = rules_.charges_without_edge;
        if (vcpu.slice.paused && !vcpu.slice.poll_stored) {
            written |= wait_for(vcpu, {found.storer, found.first_at, Wait::store});
        }
        written |= wait_for(vcpu, {found.storer, found.stored_at, kind});
        const bool known = found.stored_time != Conflicts::Found::kNoTime;
        if (written) {
            spend_wait(vcpu, kind, known ? found.stored_time : time(found.storer));
        }
    } else if (found.storer_before != Conflicts::Found::kNobody) {
        writer_.add(vcpu, Event::after({found.storer_before, found.stored_at, Wait::before}));
        spend_wait(vcpu, Wait::before, vcpus_[found.storer_before]->share.begun() + found.stored_time);
    }
    for (const unsigned reader : found.readers) {
        const Wait kind = vcpus_[reader]->polls.recent.polls(line) ? Wait::polls : Wait::nothing;
        wait_for(vcpu, {reader, writer_.last_load(reader, line), kind});
    }
}

void AccessOrder::spend_wait(Vcpu& vcpu, Wait kind, std::int64_t until) {
    const model::EdgeWait wait = rules_.wait(kind, until - time(vcpu.processor));
    edges_[vcpu.processor].behind += wait.behind;
    if (wait.stalls) {
        vcpu.share.spend(wait.stall);
    }
}

void AccessOrder::stall(Vcpu& vcpu, const Conflicts::Found& found) const {
    if (found.miss || found.upgrade) {
        (vcpu.stream.next - 1)->know_stall();
        vcpu.share.spend(rules_.conflict(found.miss));
    }
    if (found.when != nullptr) {
        *found.when = time(vcpu.processor);
    }
}

/// Writes an ordering edge; `edge.number` is the position of the awaited event in its stream. Returns false,
/// and writes nothing, if an earlier edge of `vcpu` already waits for this event or a later one of the same
/// stream.
bool AccessOrder::wait_for(Vcpu& vcpu, const model::Edge& edge) {
    std::uint32_t& until = edges_[vcpu.processor].waits_until[edge.processor];
    if (edge.number < until) {
        return false;
    }
    until = edge.number + 1;
    writer_.add(vcpu, Event::after({}));
    orders_.push_back({vcpu.processor, vcpu.stream.position() - 1, edge});
    edges_[edge.processor].awaited.push_back(edge.number);
    return true;
}

/// Sorts and marks the awaited events of each stream: all events that edges of this epoch name, and the last
/// store to each contended line. In the next epoch another processor may have to wait for such a store
/// (Wait::before).
void AccessOrder::collect_awaited() {
    conflicts_.each_stored(
        [this](unsigned storer, std::uint32_t at, std::int64_t) { edges_[storer].awaited.push_back(at); });
    for (unsigned processor = 0; processor < edges_.size(); ++processor) {
        std::vector<std::uint32_t>& awaited = edges_[processor].awaited;
        std::sort(awaited.begin(), awaited.end());
        awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
        for (const std::uint32_t position : awaited) {
            writer_.set_awaited(processor, position);
        }
    }
}

std::uint32_t AccessOrder::number(unsigned processor, std::uint32_t position) const {
    const std::vector<std::uint32_t>& awaited = edges_[processor].awaited;
    const auto at = std::lower_bound(awaited.begin(), awaited.end(), position);
    return static_cast<std::uint32_t>(at - awaited.begin());
}

void AccessOrder::number_edges() {
    collect_awaited();
    conflicts_.each_stored([this](unsigned storer, std::uint32_t& at, std::int64_t& stored) {
        at = number(storer, at);
        // Times are kept relative to the end of the epoch: the next epoch corrects a part of the error of
        // that end.
        stored = (stored != Conflicts::Found::kNoTime ? stored : 0) - time(storer);
    });
    for (const Order& order : orders_) {
        model::Edge edge = order.edge;
        edge.number = number(edge.processor, edge.number);
        writer_.set_edge(order.processor, order.position, edge);
    }
    orders_.clear();
}

void AccessOrder::begin_epoch() {
    conflicts_.next_epoch();
    for (Edges& edges : edges_) {
        edges.awaited.clear();
        std::fill(edges.waits_until.begin(), edges.waits_until.end(), 0);
        edges.behind = 0;
    }
}

}  // namespace s80::plugin
