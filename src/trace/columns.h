// SPDX-License-Identifier: GPL-2.0-or-later
// How a block stores epochs: values of one kind are stored together, in a column
// (docs/reference/interfaces/capture-file.md).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "stream/epoch.h"

namespace s80::trace {

enum class Column : unsigned {
    epochs,       ///< all data of epochs and streams except events, as numbers of variable length
    steps,        ///< a byte per event: op, width of the line's difference, new context, awaited (Step)
    deltas,       ///< a byte per event: instructions since the event before; kLongDelta: see `long_deltas`
    long_deltas,  ///< 16 bits for each delta that does not fit into a byte
    code,         ///< differences of lines: of instruction fetches
    data,         ///< differences of lines: of all other events except ordering edges
    edges,        ///< differences of the words of ordering edges (Edge::word)
    ways,         ///< a byte per event, in L1-filtered epochs: Event::l1_way
    contexts,     ///< a byte for each event whose context differs from that of the processor's event before
};
inline constexpr unsigned kColumns = 9;

inline constexpr std::uint8_t kLongDelta = 0xff;

/// The difference of a line to the processor's last line in the same column. It is stored in the smallest of
/// 0, 1, 2 or 4 bytes, with the sign in the lowest bit. A reader needs no branch for it, and no table that
/// would displace the model's data from the host's caches.
class LineDifference {
public:
    static constexpr std::array<std::uint8_t, 4> kBytes{0, 1, 2, 4};
    static constexpr std::array<std::uint32_t, 4> kMask{0, 0xff, 0xffff, 0xffff'ffff};

    constexpr LineDifference(model::Line from, model::Line to)
        : folded_((to - from) << 1 ^ (0 - ((to - from) >> 31))) {}
    constexpr std::uint32_t folded() const { return folded_; }
    constexpr unsigned width() const {
        return folded_ == 0 ? 0 : folded_ <= kMask[1] ? 1 : folded_ <= kMask[2] ? 2 : 3;
    }
    /// Converts a stored value to the difference, which the reader adds to the last line.
    static constexpr model::Line unfold(std::uint32_t folded) { return folded >> 1 ^ (0 - (folded & 1)); }

private:
    std::uint32_t folded_;
};

/// A byte of the column `steps`.
struct Step {
    std::uint8_t byte;
    static constexpr Step pack(model::Op op, unsigned width, bool new_context, bool awaited) {
        return {static_cast<std::uint8_t>(static_cast<unsigned>(op) | width << 4 |
                                          (new_context ? kNewContext : 0U) | (awaited ? kAwaited : 0U))};
    }
    constexpr unsigned op() const { return byte & 15; }
    constexpr unsigned width() const { return byte >> 4 & 3; }
    constexpr bool new_context() const { return (byte & kNewContext) != 0; }
    constexpr bool awaited() const { return (byte & kAwaited) != 0; }

    static constexpr unsigned kNewContext = 64;
    static constexpr unsigned kAwaited = 128;
};

/// The last line in each column, and the last context, of one processor. A block begins with zeros.
struct Lasts {
    model::Line code = 0;
    model::Line data = 0;
    model::Line edge = 0;
    std::uint8_t context = 0;
};

/// Bits of an epoch's first byte in the column `epochs`: the mark (kMarkMask), and which values follow.
inline constexpr std::uint8_t kMarkMask = 7;
inline constexpr std::uint8_t kHasIdle = 8;
inline constexpr std::uint8_t kHasSignals = 16;

/// Limit for the number of instructions after a stream's last event. With it, a clock in 1/256 cycle cannot
/// overflow in an epoch.
inline constexpr std::uint64_t kLongestTail = std::uint64_t{1} << 32;

}  // namespace s80::trace
