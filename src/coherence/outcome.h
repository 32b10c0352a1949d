// SPDX-License-Identifier: GPL-2.0-or-later
// The result of one access: who serviced it, in which state, and how long it stalled. Also the only place of
// the model that knows how the labels of the statistics follow from such results.
#pragma once
#include <array>
#include <cstdint>

#include "base/core_set.h"
#include "base/types.h"
#include "coherence/protocol.h"

namespace s80::model {

/// What an access did. The default value is an access that its L1 satisfied. Passed by reference beyond the
/// L1: to pack it into registers for each return costs more than the calls.
struct Outcome {
    unsigned stall = 0;                   ///< cycles
    Place place = Place::l1;              ///< from where the data came
    StateClass state = StateClass::none;  ///< of the supplier's copy before the access
    CoreNumber supplier = kNobody;        ///< the core that sent data; nobody: memory did, or none moved
    Bus request = Bus::none;              ///< what the requester asked of the other cores and memory
    CoreSet had_copies{};                 ///< sharers: other cores that had a copy before the request
    /// The core had lost its last copy of the line to a recall by the home.
    bool after_recall = false;

    /// The data came from outside of the core.
    constexpr bool missed() const { return place > Place::l2; }
    /// The core had the data, and asked for the permission to store.
    constexpr bool upgraded() const { return place == Place::l2 && request != Bus::none; }
};

/// The labels of an access in the statistics and in the log of misses.
struct Labels {
    Source source = Source::memory;  ///< of data from outside of the core
    Service service = Service::l2;   ///< for which it stalled
};

/// The labels of an outcome. Without branches, because the place of an access cannot be predicted.
constexpr Labels labels(const Outcome& outcome) {
    // By place.
    constexpr std::array kService{Service::l2, Service::l2, Service::cache, Service::llc, Service::memory};
    constexpr std::array kSource{Source::memory, Source::memory, Source::memory, Source::llc, Source::memory};
    const auto place = static_cast<unsigned>(outcome.place);
    const bool supplied = outcome.supplier != kNobody;
    return {supplied ? static_cast<Source>(1 + static_cast<unsigned>(outcome.state)) : kSource[place],
            outcome.upgraded() ? Service::upgrade : kService[place]};
}

/// Why a processor waits although no place services an access of it. issue: the core's other thread takes
/// issue slots. order: a conflicting access of another processor has to come first.
enum class Delay : std::uint8_t { issue, order };

/// The label for which a processor stalled by a delay.
constexpr Service service(Delay delay) {
    return delay == Delay::issue ? Service::issue : Service::order;
}

}  // namespace s80::model
