// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a processor's stream. An event has 8 bytes.
#pragma once
#include <cstdint>

#include "base/core_set.h"
#include "base/types.h"

namespace s80::model {

/// What an event is. The first four values are accesses, with the same numbers as in `Kind`.
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

/// The largest number of instructions between two events. A longer distance needs further events (`pass`) in
/// between.
inline constexpr std::uint64_t kLongestDelta = 0x7fff;

/// Why a processor waits at an ordering edge; the rules of time charge the wait accordingly (timing/rules.h).
enum class Wait : std::uint8_t {
    transfer,  ///< the line must be transferred from the other processor
    store,     ///< the processor polls for the other processor's store: it has executed PAUSE before
    nothing,   ///< the edge only keeps the order: another processor's load comes before a store of this one
    /// As `store`, but not the first store since the processor's last poll: on the machine it would have
    /// polled between the two stores.
    later,
    /// As `nothing`, but the other processor polls the line. If in simulated time its load ends after this
    /// processor has reached the edge, it has polled in vain since then: on the machine it would already have
    /// seen the store. A long time of this kind counts as wait error (TimingMerger::note_wait_error).
    polls,
    before,  ///< as `transfer`, but the awaited event is in the epoch before
};

/// What an ordering edge waits for: awaited event number `number`, from 0, of `processor`. The event is in
/// this epoch, or in the one before with Wait::before.
struct Edge {
    unsigned processor = 0;
    std::uint32_t number = 0;
    Wait wait = Wait::transfer;

    static constexpr unsigned kWaitBits = 3;
    /// Number of bits for `processor` and `number` together.
    static constexpr unsigned kPlaceBits = 32 - kWaitBits;
    static constexpr unsigned kNumberBits = kPlaceBits - kCoreBits;
    /// The edge as a word. `core_bits`: number of bits for `processor`. In a file this number depends on the
    /// machine (file_core_bits).
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

/// A step of a processor's stream: `op` happened `delta` instructions after the event before. The static
/// functions below make an event with delta 0 in no context; after_instructions() adds both.
struct Event {
    std::uint32_t line = 0;  ///< line of an access; otherwise see interrupt() and edge()
    std::uint16_t delta : 15 = 0;
    /// An ordering edge of another processor, in this epoch or the next, may wait for this event.
    std::uint16_t awaited : 1 = 0;
    Op op : 4 = Op::pass;
    std::uint8_t way : 4 = 0;  ///< see l1_way() and stall_is_known()
    Context context;

    /// An access of the processor to the line.
    static constexpr Event access(Kind kind, Line line) { return make(static_cast<Op>(kind), line); }
    /// An access of a device to the line. Captures have no such events.
    static constexpr Event device(bool writes, Line line) {
        return make(writes ? Op::device_write : Op::device_read, line);
    }
    /// The processor sends interrupt number `interrupt` of this epoch.
    static constexpr Event signal(std::uint32_t interrupt) { return make(Op::signal, interrupt); }
    /// The processor wakes up by this interrupt.
    static constexpr Event wait(std::uint32_t interrupt) { return make(Op::wait, interrupt); }
    /// An ordering edge. The next event of the stream conflicts with an awaited event of another processor,
    /// and must be played after it.
    static constexpr Event after(Edge edge) { return make(Op::after, edge.word()); }
    /// No effect. Carries a part of a long delta, or stands for an awaited access that every L1 absorbs.
    static constexpr Event pass() { return make(Op::pass, 0); }
    /// This event, `delta` instructions after the event before, in this context.
    constexpr Event after_instructions(std::uint64_t delta, Context context) const {
        Event event = *this;
        event.delta = static_cast<std::uint16_t>(delta & kLongestDelta);
        event.context = context;
        return event;
    }

    constexpr bool is_access() const { return op <= Op::walk; }
    /// Only for an access.
    constexpr Kind kind() const { return static_cast<Kind>(op); }
    /// Only for `signal` and `wait`.
    constexpr std::uint32_t interrupt() const { return line; }
    /// Only for ordering edges.
    constexpr Edge edge() const { return Edge::from_word(line); }
    constexpr void set_edge(Edge edge) { line = edge.word(); }

    /// Of an access in an L1-filtered epoch: the way of the L1 that the access finds or fills.
    constexpr unsigned l1_way() const { return way; }
    constexpr void set_l1_way(unsigned l1_way) { way = l1_way & 15; }
    /// Of an access in an epoch from the plugin: whether the plugin found that it conflicts with an access of
    /// another processor, and has already subtracted a stall for it from the processor's share of the epoch.
    /// The timing merger then leaves the stall out of the processor's pace (TimingMerger::Pace), from which
    /// the plugin predicts; otherwise the stall would count twice.
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

/// What the attribution of misses needs to know of an access in addition to its event
/// (observe/attribution.h).
struct Note {
    std::uint64_t pc = 0;
    std::uint64_t address = 0;  ///< virtual address of the access
    std::uint32_t who = 0;      ///< number of the task and its system call (plugin/whos.h)
    /// Granules (parts of the line) that this access reads, and those that it represents; `writes`: that they
    /// write.
    std::uint16_t reads = 0;
    std::uint16_t writes = 0;
    std::uint8_t size = 0;  ///< size of the access in bytes
};
static_assert(sizeof(Note) == 32);

}  // namespace s80::model
