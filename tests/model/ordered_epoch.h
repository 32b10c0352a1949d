// SPDX-License-Identifier: GPL-2.0-or-later
// Accesses of several processors in the order in which a guest executed them; an epoch that records them with
// ordering edges; and whether conflicting accesses were played in that order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "timing/merger.h"

namespace s80::model::test {

struct Access {
    unsigned processor = 0;
    Line line = 0;
    Op op = Op::load;         ///< load, store or walk
    std::uint16_t after = 1;  ///< instructions since the processor's last access; 0: of the same block
};

inline bool conflict(const Access& a, const Access& b) {
    return a.line == b.line && a.processor != b.processor && (a.op == Op::store || b.op == Op::store);
}

/// A processor's access, found again by the instructions before it.
struct Place {
    unsigned processor = 0;
    std::uint64_t instructions = 0;
    Op op = Op::load;
    Line line = 0;
    auto operator<=>(const Place&) const = default;
};

/// By the index of the access in the executed order.
inline std::vector<Place> places(const std::vector<Access>& executed) {
    std::map<unsigned, std::uint64_t> instructions;
    std::vector<Place> all;
    for (const Access& a : executed) {
        all.push_back({a.processor, instructions[a.processor] += a.after, a.op, a.line});
    }
    return all;
}

/// The epoch with the edges that the recorder makes: an access waits for the last store to its line, a store
/// also for the loads since.
inline Epoch epoch_of(const std::vector<Access>& executed, unsigned processors) {
    struct Pending {
        unsigned processor = 0;
        std::size_t position = 0;
        std::size_t earlier = 0;  ///< index of an access
    };
    Epoch epoch(processors);
    std::vector<std::size_t> position_of;
    std::vector<Pending> edges;
    for (std::size_t i = 0; i < executed.size(); ++i) {
        const Access& access = executed[i];
        std::vector<Event>& events = epoch.streams[access.processor].events;
        std::uint16_t delta = access.after;
        for (std::size_t j = i; j-- != 0;) {
            if (executed[j].line != access.line) {
                continue;
            }
            if (conflict(executed[j], access)) {
                edges.push_back({access.processor, events.size(), j});
                events.push_back(Event{0, delta, 0, Op::after, 0, {}});
                delta = 0;
            }
            if (executed[j].op == Op::store) {
                break;
            }
        }
        position_of.push_back(events.size());
        events.push_back(Event{access.line, delta, 0, access.op, 0, {}});
    }
    for (const Pending& edge : edges) {
        epoch.streams[executed[edge.earlier].processor].events[position_of[edge.earlier]].awaited = 1;
    }
    for (const Pending& edge : edges) {
        const unsigned earlier = executed[edge.earlier].processor;
        const auto begin = epoch.streams[earlier].events.begin();
        const auto number =
            std::count_if(begin, begin + static_cast<std::ptrdiff_t>(position_of[edge.earlier]),
                          [](const Event& e) { return e.awaited != 0; });
        epoch.streams[edge.processor].events[edge.position].line =
            Edge{earlier, static_cast<std::uint32_t>(number)}.word();
    }
    for (Stream& stream : epoch.streams) {
        stream.size = stream.events.size();
        stream.ran = stream.size != 0;
        stream.runs_on = true;
    }
    return epoch;
}

/// Records the order in which accesses are played, over one or more epochs.
class PlayedOrder final : public Observer {
public:
    void begin(const Epoch& epoch) override { instructions_.resize(epoch.streams.size()); }
    void event(unsigned processor, const Event& event, std::int64_t) override {
        instructions_[processor] += event.delta;
        if (event.is_access()) {
            played_.emplace(Place{processor, instructions_[processor], event.op, event.line}, played_.size());
        }
    }
    void end(const Epoch& epoch) override {
        for (std::size_t p = 0; p < epoch.streams.size(); ++p) {
            instructions_[p] += epoch.streams[p].tail;
        }
    }

    std::size_t size() const { return played_.size(); }
    /// The first two conflicting accesses that were not played in the order in which they were executed.
    /// Accesses that were not played at all are absorbed ones of an L1-filtered epoch.
    std::optional<std::string> violation(const std::vector<Access>& executed) const {
        const std::vector<Place> all = places(executed);
        for (std::size_t later = 0; later < all.size(); ++later) {
            for (std::size_t earlier = 0; earlier < later; ++earlier) {
                const auto first = played_.find(all[earlier]);
                const auto second = played_.find(all[later]);
                if (conflict(executed[earlier], executed[later]) && first != played_.end() &&
                    second != played_.end() && first->second > second->second) {
                    return "access " + std::to_string(later) + " to line " +
                           std::to_string(executed[later].line) + " was played before access " +
                           std::to_string(earlier);
                }
            }
        }
        return std::nullopt;
    }

private:
    std::vector<std::uint64_t> instructions_;
    std::map<Place, std::size_t> played_;
};

}  // namespace s80::model::test
