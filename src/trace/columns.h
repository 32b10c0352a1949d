// SPDX-License-Identifier: GPL-2.0-or-later
// What the windows of one block look like: fields of one kind side by side in columns (docs/capture.md).
#pragma once
#include <array>
#include <cstdint>

#include "model/window.h"

namespace s80::trace {

enum class Column : unsigned {
    windows,      ///< what a window and its streams say beside their events, varints
    steps,        ///< a byte an event: op, context, how its line is written
    deltas,       ///< a byte an event; kLongDelta: see the next column
    long_deltas,  ///< 16 bits
    near,         ///< lines as difference to the processor's last of the kind, 8 bits
    middle,       ///< the same, 16 bits
    far,          ///< lines as they are, 32 bits
    ways,         ///< a byte an access, in placed windows
};
inline constexpr unsigned kColumns = 8;

inline constexpr std::uint8_t kLongDelta = 0xff;

/// How an event's line is written: as guessed, or in one of three columns.
enum class LineCode : std::uint8_t { guessed, near, middle, far };

/// The byte of the column `steps`.
struct Step {
    static constexpr std::uint8_t pack(model::Op op, LineCode code, model::Context context) {
        return static_cast<std::uint8_t>(static_cast<unsigned>(op) | static_cast<unsigned>(code) << 3 |
                                         static_cast<unsigned>(context.value) << 5);
    }
    std::uint8_t byte;
    constexpr unsigned op() const { return byte & 7; }
    constexpr LineCode code() const { return static_cast<LineCode>(byte >> 3 & 3); }
    constexpr std::uint8_t context() const { return static_cast<std::uint8_t>(byte >> 5); }
};

/// The first byte of a window in the column `windows`: its mark, and which values follow.
inline constexpr std::uint8_t kMarkMask = 7;
inline constexpr std::uint8_t kHasIdle = 8;
inline constexpr std::uint8_t kHasSignals = 16;

/// No stream is longer; so a clock in 1/256 cycle cannot overflow while a window is played.
inline constexpr std::uint64_t kLongestTail = std::uint64_t{1} << 32;

}  // namespace s80::trace
