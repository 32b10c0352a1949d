// SPDX-License-Identifier: GPL-2.0-or-later
// What the recording side hands to the playing side: one window, a stream of events a processor.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/statistics.h"
#include "model/types.h"

namespace s80::model {

/// What an event is. The first four are accesses and equal `Kind`.
enum class Op : std::uint8_t {
    ifetch,
    load,
    store,
    walk,
    pass,
    signal,
    wait,
    turn,
    device_read,
    device_write
};

/// One step of a processor's stream: `delta` instructions after the previous event, it did `op`.
/// pass: nothing (carries a long delta). signal: sent the interrupt number `line` of this window.
/// wait: slept until that interrupt. turn: what follows was in the turn number `line` of the window, in
/// QEMU's order (0 at the beginning of a stream: the turn that the window began in). device_read and
/// device_write: a device did so to that line at this moment (never in a capture). `way`: of the L1, in
/// placed windows only.
struct Event {
    std::uint32_t line = 0;
    std::uint16_t delta = 0;
    Op op : 4 = Op::pass;
    std::uint8_t way : 4 = 0;
    Context context;
};
static_assert(sizeof(Event) == 8);

inline bool is_access(Op op) {
    return op <= Op::walk;
}
/// Of an access.
inline Kind kind_of(Op op) {
    return static_cast<Kind>(op);
}

/// What the log of misses wants to know of an access beside its event (attribution.h).
struct Note {
    std::uint64_t pc = 0;
    std::uint64_t address = 0;  ///< virtual
    std::uint32_t who = 0;      ///< the recorder's number of task and system call
    std::uint16_t reads = 0;    ///< granules, of this access and of those that its event stands for
    std::uint16_t writes = 0;
    std::uint8_t size = 0;  ///< bytes
};
static_assert(sizeof(Note) == 32);

struct Stream {
    std::vector<Event> events;  ///< storage; only the first `size` are valid
    std::vector<Note> notes;    ///< of the accesses among them, where a log is written
    std::size_t size = 0;
    std::uint64_t tail = 0;  ///< instructions after the last event
    bool ran = false;        ///< executed anything in this window
    bool runs_on = false;    ///< was not halted when the window ended
    /// Contexts whose counters below may not be zero, a bit each: most are never used.
    std::uint64_t used = 0;
    std::array<std::uint64_t, kContexts> instructions{};
    std::array<std::array<std::uint64_t, kKinds>, kContexts> accesses{};
    std::array<std::array<std::uint64_t, kInstructionClasses>, kContexts> classes{};
    static_assert(kContexts <= 64);

    void use(Context context) { used |= std::uint64_t{1} << context.value; }
    /// Calls `fn(context)` for each context in use.
    template <class Fn>
    void each_used(Fn&& fn) const {
        for (std::uint64_t left = used; left != 0; left &= left - 1) {
            fn(Context(static_cast<std::uint8_t>(std::countr_zero(left))));
        }
    }
    void clear_counts() {
        each_used([this](Context c) {
            instructions[c.value] = 0;
            accesses[c.value] = {};
            classes[c.value] = {};
        });
        used = 0;
    }
    void add_counts(const Stream& other) {
        other.each_used([&](Context context) {
            const unsigned c = context.value;
            instructions[c] += other.instructions[c];
            for (unsigned k = 0; k < kKinds; ++k) {
                accesses[c][k] += other.accesses[c][k];
            }
            for (unsigned i = 0; i < kInstructionClasses; ++i) {
                classes[c][i] += other.classes[c][i];
            }
        });
        used |= other.used;
    }
};

/// Turns that QEMU gave its processors, by their length: powers of two of instructions.
struct TurnCounts {
    std::array<std::uint64_t, kTurnLengths> turns{};
    std::array<std::uint64_t, kTurnLengths> instructions{};

    void add(std::uint64_t length) {
        const unsigned width = length == 0 ? 0 : static_cast<unsigned>(std::bit_width(length)) - 1;
        const unsigned at = std::min(width, kTurnLengths - 1);
        ++turns[at];
        instructions[at] += length;
    }
    bool operator==(const TurnCounts&) const = default;
};

/// A line of snapshots.jsonl is due after this window.
enum class Mark : std::uint8_t { none, load_begin, window, measure_begin, measure_end, exit };

struct Window {
    explicit Window(unsigned processors) : streams(processors) {}

    std::vector<Stream> streams;  ///< by processor
    /// Accesses that an L1 absorbs under every protocol are absent, and each other one names the way of
    /// the L1 that it fills or finds (filtered captures).
    bool placed = false;
    /// The streams' counters are filled; otherwise they are zero (a capture carries them to the next window
    /// with a mark: nobody looks at them before).
    bool counted = true;
    std::uint32_t signals = 0;         ///< interrupts sent in this window
    std::uint64_t idle_before_ns = 0;  ///< every processor slept that long before the window
    Mark mark = Mark::none;
    std::uint64_t index = 0;         ///< number of the snapshot
    std::uint64_t instructions = 0;  ///< of the whole run up to the end of this window
    /// Totals of the whole run, filled when a mark is due.
    std::array<std::array<std::uint64_t, kOutcomes>, kTransactionTypes> transactions{};
    std::vector<std::uint64_t> watched;  ///< counters of the guest, in the order of their names
    /// Clients that have finished a transaction since the load began, filled when a mark is due; a capture
    /// does not carry it.
    std::optional<std::uint64_t> clients_finished;
    TurnCounts turns;
};

}  // namespace s80::model
