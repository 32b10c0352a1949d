// SPDX-License-Identifier: GPL-2.0-or-later
// The interface between the recording side and the playing side: an epoch with one stream of events for each
// processor.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/types.h"
#include "stream/counts.h"
#include "stream/event.h"

namespace s80::model {

struct Stream {
    std::vector<Event> events;  ///< storage of the events; only the first `size` are valid
    /// By position of an event: data for the attribution of misses; empty if misses are not attributed.
    std::vector<Note> notes;
    std::size_t size = 0;
    std::uint64_t tail = 0;  ///< number of instructions after the last event
    bool ran = false;        ///< the processor executed an instruction in this epoch
    bool runs_on = false;    ///< the processor was not halted at the end of the epoch
    /// Contexts whose counts below may not be 0, one bit for each context. Most contexts are never used.
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

/// Numbers of QEMU's time slices and of their instructions, by kSliceLengthLabels.
struct SliceCounts {
    std::array<std::uint64_t, kSliceLengths> slices{};
    std::array<std::uint64_t, kSliceLengths> instructions{};

    void add(std::uint64_t length) {
        const unsigned width = length == 0 ? 0 : static_cast<unsigned>(std::bit_width(length)) - 1;
        const unsigned at = std::min(width, kSliceLengths - 1);
        ++slices[at];
        instructions[at] += length;
    }
    bool operator==(const SliceCounts&) const = default;
};

/// Why a snapshot is written after this epoch; `none`: no snapshot.
enum class Mark : std::uint8_t { none, load_begin, interval, measure_begin, measure_end, exit };

struct Epoch {
    explicit Epoch(unsigned processors) : streams(processors) {}

    std::vector<Stream> streams;  ///< by processor
    /// An L1-filtered epoch (of a filtered capture). Accesses that an L1 absorbs under every protocol are
    /// missing. Each other access names the way of the L1 that it finds or fills.
    bool placed = false;
    /// Whether the counts in the streams are filled in. In a capture only epochs with a mark have counts,
    /// which include those of the epochs since the last mark.
    bool counted = true;
    std::uint32_t signals = 0;         ///< number of interrupts that were sent in this epoch
    std::uint64_t idle_before_ns = 0;  ///< time for which all processors slept before this epoch
    Mark mark = Mark::none;
    std::uint64_t index = 0;         ///< number of the snapshot after this epoch
    std::uint64_t instructions = 0;  ///< instructions of the whole run up to the end of this epoch
    /// Totals of the whole run, filled in if the epoch has a mark: transactions by type and outcome.
    std::array<std::array<std::uint64_t, kOutcomes>, kTransactionTypes> transactions{};
    /// Values of the guest's counters, in the order of their names (plugin/watch.h).
    std::vector<std::uint64_t> watched;
    /// Number of clients that have finished a transaction since the load began; filled in if the epoch has a
    /// mark. Epochs of a capture lack it.
    std::optional<std::uint64_t> clients_finished;
    SliceCounts slices;
};

}  // namespace s80::model
