// SPDX-License-Identifier: GPL-2.0-or-later
// The state that a replacement policy keeps for a set, in one word.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace s80::model {

/// Reads a state of at most 64 bits. `bits` of them are in use.
inline std::uint64_t load_state(const std::byte* set, unsigned bits) {
    std::uint64_t state = 0;
    if (bits <= 32) {
        std::memcpy(&state, set, 4);  // little-endian, as x86 is
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
