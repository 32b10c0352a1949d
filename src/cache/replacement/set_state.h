// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and writes the state of a set for replacement policies that need at most one word.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace s80::model {

/// `bits`: size of the state, at most 64. Up to 32 bits are stored in 4 bytes, more in 8.
inline std::uint64_t load_state(const std::byte* set, unsigned bits) {
    std::uint64_t state = 0;
    if (bits <= 32) {
        std::memcpy(&state, set, 4);  // x86 is little-endian, so these are the low bytes
    } else {
        std::memcpy(&state, set, 8);
    }
    return state;
}

inline void store_state(std::byte* set, std::uint64_t state, unsigned bits) {
    if (bits <= 32) {
        std::memcpy(set, &state, 4);
    } else {
        std::memcpy(set, &state, 8);
    }
}

}  // namespace s80::model
