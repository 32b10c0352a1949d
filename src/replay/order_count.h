// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the effects of accesses by protocol state. These counts are compared with those of gem5's Ruby
// (docs/background/agreement.md).
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "replay/order_observe.h"

namespace s80::replay {

class Counts {
public:
    explicit Counts(const model::Protocol& protocol) : protocol_(protocol) {}

    void add(const Effect& effect);

    /// Returns the counts that are not zero as a JSON object: {"access.l1.load.S": 12, ...}. The keys:
    /// - access.PLACE.KIND.STATE: accesses. PLACE: where the core found the line (l1, l2, miss); STATE: its
    ///   state there.
    /// - request.BUS.STATE.SOURCE: requests on the bus. STATE: the requester's state before. SOURCE: memory,
    ///   llc, or the state before of the cache that supplied the data.
    /// - fill.BUS.STATE: misses. STATE: the state in which the line entered the requester's caches.
    /// - remote.BUS.STATE: copies in other cores that a request reached. STATE: their state before.
    /// - move.FROM_TO.STATE, evict.STATE: lines that moved within a core (l1_l2, l2_l1i, l2_l1d), or left the
    ///   core.
    /// - home.EVENT.STATE: events of the home by its state before. home.EVENT.STATE.COPY: the copies that the
    ///   home recalled, by the home's state and the copy's.
    std::string json() const;

private:
    enum Place : unsigned { l1, l2, miss };
    enum Move : unsigned { l1_l2, l2_l1i, l2_l1d };
    static constexpr unsigned kBuses = model::kBusRequests + 1;
    /// Indices that stand for memory and the last-level cache in the place of the supplier's state.
    static constexpr unsigned kMemory = model::kMaxStates;
    static constexpr unsigned kLlc = kMemory + 1;
    using ByState = std::array<std::uint64_t, model::kMaxStates>;

    const model::Protocol& protocol_;
    std::array<std::array<ByState, model::kKinds>, 3> access_{};
    std::array<std::array<std::array<std::uint64_t, kLlc + 1>, model::kMaxStates>, kBuses> request_{};
    std::array<ByState, kBuses> fill_{};
    std::array<ByState, kBuses> remote_{};
    std::array<ByState, 3> move_{};
    ByState evict_{};
    std::map<std::string, std::uint64_t> home_;
};

const char* bus_name(model::Bus bus);

}  // namespace s80::replay
