// SPDX-License-Identifier: GPL-2.0-or-later
// The layout of the epochs of one block: fields of one kind are stored together in columns
// (docs/reference/interfaces/capture-file.md).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "stream/epoch.h"

namespace s80::trace {

enum class Column : unsigned {
    epochs,  ///< data of epochs and their streams except events, varints
    steps,   ///< a byte per event: op, width of its line, whether its context differs, whether it is awaited
    deltas,  ///< a byte per event; kLongDelta: see the next column
    long_deltas,  ///< 16 bits
    code,         ///< lines of instruction fetches
    data,         ///< lines of all other events except ordering edges
    edges,        ///< the words of ordering edges
    ways,         ///< a byte per event, in L1-filtered epochs
    contexts,     ///< a byte where the context of a processor's events changes
};
inline constexpr unsigned kColumns = 9;

inline constexpr std::uint8_t kLongDelta = 0xff;

/// Lines are stored as differences to the processor's last line in the same column, with the sign in the
/// lowest bit, in the smallest of 0, 1, 2 or 4 bytes. Reading one needs no branch, and no table that would
/// displace the model's data from the host's caches.
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
    /// The value to be added to the line before.
    static constexpr model::Line unfold(std::uint32_t folded) { return folded >> 1 ^ (0 - (folded & 1)); }

private:
    std::uint32_t folded_;
};

/// The byte of the column `steps`.
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

/// The last values in a processor's stream.
struct Lasts {
    model::Line code = 0;
    model::Line data = 0;
    model::Line edge = 0;
    std::uint8_t context = 0;
};

/// The first byte of an epoch in the column `epochs`: its mark, and the values that follow.
inline constexpr std::uint8_t kMarkMask = 7;
inline constexpr std::uint8_t kHasIdle = 8;
inline constexpr std::uint8_t kHasSignals = 16;

/// Limit of the instructions after a stream's last event: a clock in 1/256 cycle cannot overflow within an
/// epoch.
inline constexpr std::uint64_t kLongestTail = std::uint64_t{1} << 32;

}  // namespace s80::trace
