// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/access_order.h"

#include <algorithm>

#include "timing/player.h"

namespace s80::plugin {

using model::Event;
using model::Kind;
using model::Player;

AccessOrder::AccessOrder(const model::Machine& machine, const Lanes& lanes, EpochWriter& writer,
                         std::size_t lines)
    : machine_(machine),
      lanes_(lanes),
      writer_(writer),
      conflicts_(lines, writer),
      longest_wait_(Player::longest_wait(machine)),
      edges_(lanes.size(), Edges{{}, std::vector<std::uint32_t>(lanes.size(), 0)}) {}

Conflicts::Found AccessOrder::access(Lane& lane, model::Line line, Kind kind) {
    const auto expected = static_cast<std::uint32_t>(lane.stream.position());
    const Conflicts::Found found = kind == Kind::store ? conflicts_.store(lane.processor, line, expected)
                                                       : conflicts_.load(lane.processor, line);
    if (found.storer != Conflicts::Found::kNobody || found.storer_before != Conflicts::Found::kNobody ||
        !found.readers.empty()) [[unlikely]] {
        order(lane, line, found);
    }
    writer_.add(lane, Event::access(kind, line));
    const auto position = static_cast<std::uint32_t>(lane.stream.position()) - 1;
    if (kind == Kind::store && position != expected) [[unlikely]] {
        conflicts_.moved(line, position);
    }
    return found;
}

/// The access comes after those that it conflicts with.
void AccessOrder::order(Lane& lane, model::Line line, const Conflicts::Found& found) {
    if (found.storer != Conflicts::Found::kNobody) {
        const bool paused = lane.slice.paused;
        if (paused && !lane.slice.poll_stored) {
            wait_for(lane, {found.storer, found.first_at, model::Wait::store});
        }
        wait_for(lane, {found.storer, found.stored_at, paused ? model::Wait::later : model::Wait::transfer});
        const std::int64_t stored =
            found.stored_time != Conflicts::Found::kNoTime ? found.stored_time : lanes_[found.storer]->time();
        const std::int64_t time = stored - lane.time();
        if (time > 0 && (paused || time <= longest_wait_)) {
            lane.share.spend(time);
        }
    } else if (found.storer_before != Conflicts::Found::kNobody) {
        const std::int64_t stored = lanes_[found.storer_before]->share.begun() + found.stored_time;
        const std::int64_t time = stored - lane.time();
        writer_.add(lane, Event::after({found.storer_before, found.stored_at, model::Wait::before}));
        if (time > 0 && time <= longest_wait_) {
            lane.share.spend(time);
        }
    }
    for (const unsigned reader : found.readers) {
        const auto wait =
            lanes_[reader]->polls.recent.polls(line) ? model::Wait::polls : model::Wait::nothing;
        wait_for(lane, {reader, writer_.last_load(reader, line), wait});
    }
}

void AccessOrder::stall(Lane& lane, const Conflicts::Found& found) const {
    if (found.miss || found.upgrade) {
        (lane.stream.next - 1)->know_stall();
        const unsigned stall = found.miss ? machine_.latency.cache : machine_.latency.upgrade;
        lane.share.spend(std::int64_t{stall} * Player::kUnit);
    }
    if (found.when != nullptr) {
        *found.when = lane.time();
    }
}

/// `edge`: its number is the position of the awaited event.
void AccessOrder::wait_for(Lane& lane, const model::Edge& edge) {
    std::uint32_t& until = edges_[lane.processor].waits_until[edge.processor];
    if (edge.number < until) {
        return;
    }
    until = edge.number + 1;
    writer_.add(lane, Event::after({}));
    orders_.push_back({lane.processor, lane.stream.position() - 1, edge});
    edges_[edge.processor].awaited.push_back(edge.number);
}

/// In the next epoch a processor may have to wait for the last store of this one.
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
    conflicts_.each_stored([this](unsigned storer, std::uint32_t& at, std::int64_t& time) {
        at = number(storer, at);
        // A part of the end's error is corrected later.
        time = (time != Conflicts::Found::kNoTime ? time : 0) - lanes_[storer]->time();
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
    }
}

}  // namespace s80::plugin
