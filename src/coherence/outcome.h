// SPDX-License-Identifier: GPL-2.0-or-later
// The result of one access: which place sent the data, the state of the copy there, and the stall. No other
// file of the model says how these results are counted (source and service in the statistics).
#pragma once
#include <array>
#include <cstdint>

#include "base/core_set.h"
#include "base/types.h"
#include "coherence/protocol.h"

namespace s80::model {

/// What an access did. The default value is an access that hit in its L1. Functions beyond the L1 fill in a
/// reference: to pack this structure into registers for each return would cost more than the calls.
struct Outcome {
    unsigned stall = 0;                   ///< stall of the access in cycles, beyond the base cycle
    Place place = Place::l1;              ///< place that had the data
    StateClass state = StateClass::none;  ///< state of the supplier's copy before the access, as counted
    /// Core or group cache that sent the data; kNobody: memory, the LLC or the core's own group cache sent
    /// them, or no data moved.
    CoreNumber supplier = kNobody;
    Bus request = Bus::none;  ///< what the requester asked of the home
    CoreSet had_copies{};     ///< other cores and group caches that had a copy before the request
    /// The home had recalled the core's last copy of the line (see HomeEvent).
    bool after_recall = false;

    /// Whether the data came from outside of the core.
    constexpr bool missed() const { return place > Place::l2; }
    /// Whether the core had the data, and asked for permission to store.
    constexpr bool upgraded() const { return place == Place::l2 && request != Bus::none; }
};

/// The labels of an access in the statistics and in the log of misses.
struct Labels {
    Source source = Source::memory;  ///< where the data of a miss came from
    Service service = Service::l2;   ///< what the processor stalled for
};

/// The labels for an outcome. Has no branches, because the host cannot predict the place of an access.
constexpr Labels labels(const Outcome& outcome) {
    // Indexed by Place:
    constexpr std::array kService{Service::l2,    Service::l2,  Service::group,
                                  Service::cache, Service::llc, Service::memory};
    constexpr std::array kSource{Source::memory, Source::memory, Source::group,
                                 Source::memory, Source::llc,    Source::memory};
    const auto place = static_cast<unsigned>(outcome.place);
    const bool supplied = outcome.supplier != kNobody;
    return {supplied ? static_cast<Source>(1 + static_cast<unsigned>(outcome.state)) : kSource[place],
            outcome.upgraded() ? Service::upgrade : kService[place]};
}

/// Why a processor waits although nothing services an access of it. `issue`: the core's other thread uses
/// issue slots. `order`: a conflicting access of another processor must come first (an ordering edge).
enum class Delay : std::uint8_t { issue, order };

/// The label under which stalls by this delay are counted.
constexpr Service service(Delay delay) {
    return delay == Delay::issue ? Service::issue : Service::order;
}

}  // namespace s80::model
