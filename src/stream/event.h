// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a processor's stream, in 8 bytes each.
#pragma once
#include <cstdint>

#include "base/types.h"

namespace s80::model {

/// The kind of an event. The first four are accesses and equal `Kind`.
enum class Op : std::uint8_t {
    ifetch,
    load,
    store,
    walk,
    pass,
    signal,
    wait,
    after,
    device_read,
    device_write
};

/// One step of a processor's stream: `delta` instructions after the previous event, `op` happened.
/// pass: no effect (carries a long delta).
/// signal: the processor sent interrupt number `line` of this epoch.
/// wait: the processor slept until that interrupt.
/// after: an ordering edge (`Edge`, in `line`). What follows conflicts with an awaited event of another
/// processor and is played after it.
/// device_read, device_write: a device accessed that line at this time (never in a capture).
/// `awaited`: an ordering edge of another processor may name this event, in this epoch or in the next.
/// `way`: in L1-filtered epochs the way of the L1. In epochs that the plugin has just recorded, not 0 at an
/// access whose stall is known as that of a conflict (Player::Pace).
struct Event {
    std::uint32_t line = 0;
    std::uint16_t delta : 15 = 0;
    std::uint16_t awaited : 1 = 0;
    Op op : 4 = Op::pass;
    std::uint8_t way : 4 = 0;
    Context context;
};
static_assert(sizeof(Event) == 8);
/// A longer one is carried by several events.
inline constexpr std::uint64_t kLongestDelta = 0x7fff;

/// What a processor waits for at an ordering edge.
enum class Wait : std::uint8_t {
    transfer,  ///< the line, which moves to it
    store,     ///< a store that it polls for: it executed PAUSE before
    nothing,   ///< only the order is kept: a load of another processor comes before a store of this one
    later,     ///< as `store`, but the machine's processor would have polled before this store
    polls,     ///< as `nothing`, but the other processor polls: its loads should not come after this store
    before,    ///< as `transfer`, but the awaited event is of the epoch before
};

/// The end of an ordering edge: the awaited event number `number` of `processor`, from 0, in this epoch or
/// the one before (Wait::before).
struct Edge {
    unsigned processor = 0;
    std::uint32_t number = 0;
    Wait wait = Wait::transfer;

    static constexpr unsigned kNumberBits = 24;
    static constexpr unsigned kProcessorBits = 5;
    constexpr std::uint32_t word() const {
        return static_cast<std::uint32_t>(wait) << (kNumberBits + kProcessorBits) | processor << kNumberBits |
               number;
    }
    static constexpr Edge of(std::uint32_t word) {
        return {word >> kNumberBits & ((1U << kProcessorBits) - 1), word & ((1U << kNumberBits) - 1),
                static_cast<Wait>(word >> (kNumberBits + kProcessorBits))};
    }
};
static_assert(kMaxCores <= 1U << Edge::kProcessorBits);

inline bool is_access(Op op) {
    return op <= Op::walk;
}
/// For access events only.
inline Kind kind_of(Op op) {
    return static_cast<Kind>(op);
}

/// Data about an access for the log of misses, in addition to its event (observe/attribution.h).
struct Note {
    std::uint64_t pc = 0;
    std::uint64_t address = 0;  ///< virtual
    std::uint32_t who = 0;      ///< the recorder's number for task and system call
    std::uint16_t reads = 0;    ///< granules, of this access and of repetitions that its event represents
    std::uint16_t writes = 0;
    std::uint8_t size = 0;  ///< bytes
};
static_assert(sizeof(Note) == 32);

}  // namespace s80::model
