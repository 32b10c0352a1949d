// SPDX-License-Identifier: GPL-2.0-or-later
// The interface between the recording side and the playing side: one epoch with one stream of
// events per processor.
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
    std::vector<Event> events;  ///< storage; only the first `size` are valid
    std::vector<Note> notes;    ///< of the accesses, if a log of misses is written
    std::size_t size = 0;
    std::uint64_t tail = 0;  ///< instructions after the last event
    bool ran = false;        ///< executed an instruction in this epoch
    bool runs_on = false;    ///< was not halted when the epoch ended
    /// Contexts whose counters below may be nonzero, one bit each. Most contexts are never used.
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

/// Time slices of QEMU's processors, by length in powers of two instructions.
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

/// The snapshot that is due after this epoch.
enum class Mark : std::uint8_t { none, load_begin, interval, measure_begin, measure_end, exit };

struct Epoch {
    explicit Epoch(unsigned processors) : streams(processors) {}

    std::vector<Stream> streams;  ///< by processor
    /// An L1-filtered epoch (of a filtered capture): accesses that an L1 absorbs under every protocol are
    /// absent, and every other access names the way of the L1 that it finds or fills.
    bool placed = false;
    /// Whether the streams' counters are filled. In a capture, only epochs with a mark have counters, which
    /// then include those of the epochs before.
    bool counted = true;
    std::uint32_t signals = 0;         ///< interrupts sent in this epoch
    std::uint64_t idle_before_ns = 0;  ///< time for which all processors slept before this epoch
    Mark mark = Mark::none;
    std::uint64_t index = 0;         ///< number of the snapshot
    std::uint64_t instructions = 0;  ///< of the whole run, up to the end of this epoch
    /// Totals of the whole run, filled if a mark is due.
    std::array<std::array<std::uint64_t, kOutcomes>, kTransactionTypes> transactions{};
    std::vector<std::uint64_t> watched;  ///< counters of the guest, in the order of their names
    /// Clients that have finished a transaction since the load began, filled if a mark is due. Captures do
    /// not contain it.
    std::optional<std::uint64_t> clients_finished;
    SliceCounts slices;
};

}  // namespace s80::model
