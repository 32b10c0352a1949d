// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a processor's stream, in 8 bytes each.
#pragma once
#include <cstdint>

#include "base/core_set.h"
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

/// Instructions between two events. A longer distance is carried by several events.
inline constexpr std::uint64_t kLongestDelta = 0x7fff;

/// What a processor waits for at an ordering edge.
enum class Wait : std::uint8_t {
    transfer,  ///< the transfer of the line from the other processor
    store,     ///< a store that it polls for: it executed PAUSE before
    nothing,   ///< only the order is kept: a load of another processor comes before a store of this one
    later,     ///< as `store`, but on the machine the processor would have polled once more before this store
    /// As `nothing`, but the other processor polls: on the machine its load would not have waited for this
    /// store.
    polls,
    before,  ///< as `transfer`, but the awaited event is of the epoch before
};

/// The end of an ordering edge: the awaited event number `number` of `processor`, from 0, in this epoch or
/// the one before (Wait::before).
struct Edge {
    unsigned processor = 0;
    std::uint32_t number = 0;
    Wait wait = Wait::transfer;

    static constexpr unsigned kWaitBits = 3;
    static constexpr unsigned kPlaceBits = 32 - kWaitBits;  ///< of processor and number
    static constexpr unsigned kNumberBits = kPlaceBits - kCoreBits;
    /// `core_bits`: bits for the number of the processor. In a file they depend on the machine
    /// (file_core_bits).
    constexpr std::uint32_t word(unsigned core_bits = kCoreBits) const {
        return static_cast<std::uint32_t>(wait) << kPlaceBits | processor << (kPlaceBits - core_bits) |
               number;
    }
    static constexpr Edge from_word(std::uint32_t word, unsigned core_bits = kCoreBits) {
        const unsigned number_bits = kPlaceBits - core_bits;
        return {word >> number_bits & ((1U << core_bits) - 1), word & ((1U << number_bits) - 1),
                static_cast<Wait>(word >> kPlaceBits)};
    }
};

/// One step of a processor's stream: `delta` instructions after the previous event, `op` happened. The
/// functions `access` to `pass` make an event without instructions before it, in no context.
struct Event {
    std::uint32_t line = 0;  ///< of an access or a device; else read interrupt() or edge()
    std::uint16_t delta : 15 = 0;
    /// Set if an ordering edge of another processor, in this epoch or in the next one, may name this event.
    std::uint16_t awaited : 1 = 0;
    Op op : 4 = Op::pass;
    std::uint8_t way : 4 = 0;  ///< read it by l1_way() or stall_is_known()
    Context context;

    /// An access of the processor.
    static constexpr Event access(Kind kind, Line line) { return make(static_cast<Op>(kind), line); }
    /// A device accessed the line at this time. Never in a capture.
    static constexpr Event device(bool writes, Line line) {
        return make(writes ? Op::device_write : Op::device_read, line);
    }
    /// The processor sent interrupt number `interrupt` of this epoch.
    static constexpr Event signal(std::uint32_t interrupt) { return make(Op::signal, interrupt); }
    /// The processor slept until that interrupt.
    static constexpr Event wait(std::uint32_t interrupt) { return make(Op::wait, interrupt); }
    /// An ordering edge: the next event conflicts with an awaited event of another processor, and is played
    /// after it.
    static constexpr Event after(Edge edge) { return make(Op::after, edge.word()); }
    /// No effect: carries a long delta, or stands for an awaited access that every L1 absorbs.
    static constexpr Event pass() { return make(Op::pass, 0); }
    /// The same event, `delta` instructions after the previous one, in the context.
    constexpr Event after_instructions(std::uint64_t delta, Context context) const {
        Event event = *this;
        event.delta = static_cast<std::uint16_t>(delta & kLongestDelta);
        event.context = context;
        return event;
    }

    constexpr bool is_access() const { return op <= Op::walk; }
    /// Only for accesses.
    constexpr Kind kind() const { return static_cast<Kind>(op); }
    /// Only for `signal` and `wait`.
    constexpr std::uint32_t interrupt() const { return line; }
    /// Only for ordering edges.
    constexpr Edge edge() const { return Edge::from_word(line); }
    constexpr void set_edge(Edge edge) { line = edge.word(); }

    /// In L1-filtered epochs: the way of the L1 that the access finds or fills.
    constexpr unsigned l1_way() const { return way; }
    constexpr void set_l1_way(unsigned l1_way) { way = l1_way & 15; }
    /// In epochs that come directly from the plugin: the plugin has already counted the stall of this access
    /// as that of a conflict (TimingMerger::Pace).
    constexpr bool stall_is_known() const { return way != 0; }
    constexpr void know_stall() { way = 1; }

private:
    static constexpr Event make(Op op, std::uint32_t line) {
        Event event;
        event.op = op;
        event.line = line;
        return event;
    }
};
static_assert(sizeof(Event) == 8);

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
