// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the effects of accesses by state: the model's side of the comparison with Ruby
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

    /// A JSON object of the counts that are not zero: {"access.l1.load.S": 12, ...}. Its keys:
    /// - access.PLACE.KIND.STATE: accesses by the place (l1, l2, miss) and state of the line in the core.
    /// - request.BUS.STATE.SOURCE: bus requests by the requester's state before. SOURCE: the supplier's state
    ///   before, or llc, or memory.
    /// - fill.BUS.STATE: misses by the state in which the line entered.
    /// - remote.BUS.STATE: copies in other cores that saw a request, by their state before.
    /// - move.FROM_TO.STATE (l1_l2, l2_l1i, l2_l1d), evict.STATE: lines that moved within a core or left it.
    /// - home.EVENT.STATE: events of the home by its state before. home.EVENT.STATE.COPY: the copies that the
    ///   home recalled, by the home's state and the copy's.
    std::string json() const;

private:
    enum Place : unsigned { l1, l2, miss };
    enum Move : unsigned { l1_l2, l2_l1i, l2_l1d };
    static constexpr unsigned kBuses = model::kBusRequests + 1;
    /// Indices of sources that are not caches.
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
