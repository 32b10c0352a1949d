// SPDX-License-Identifier: GPL-2.0-or-later
// Counts the effects of accesses by state: the model's side of the comparison with Ruby
// (docs/background/agreement.md).
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "replay/order_observe.h"

namespace s80::replay {

class Counts {
public:
    explicit Counts(const model::Protocol& protocol) : protocol_(protocol) {}

    void add(const Effect& effect);

    /// {"access.l1.load.S": 12, ...}: every count that is not zero.
    ///   access.PLACE.KIND.STATE    PLACE l1, l2 or miss: where the core found the line, in which state
    ///   (miss: I) request.BUS.STATE.SOURCE   bus requests by the requester's state before and the supplier's
    ///   (or memory) fill.BUS.STATE             the state in which missed lines entered remote.BUS.STATE
    ///   copies in other caches that saw a request, by their state before it move.l1_l2.STATE,
    ///   move.l2_l1i.STATE, move.l2_l1d.STATE, evict.STATE
    std::string json() const;

private:
    enum Place : unsigned { l1, l2, miss };
    enum Move : unsigned { l1_l2, l2_l1i, l2_l1d };
    static constexpr unsigned kBuses = model::kBusRequests + 1;
    static constexpr unsigned kMemory = model::kMaxStates;  ///< index of memory as a source
    using ByState = std::array<std::uint64_t, model::kMaxStates>;

    const model::Protocol& protocol_;
    std::array<std::array<ByState, model::kKinds>, 3> access_{};
    std::array<std::array<std::array<std::uint64_t, model::kMaxStates + 1>, model::kMaxStates>, kBuses>
        request_{};
    std::array<ByState, kBuses> fill_{};
    std::array<ByState, kBuses> remote_{};
    std::array<ByState, 3> move_{};
    ByState evict_{};
};

const char* bus_name(model::Bus bus);

}  // namespace s80::replay
