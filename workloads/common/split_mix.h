// SPDX-License-Identifier: GPL-2.0-or-later
// SplitMix64 (Steele, Lea and Flood 2014): one addition and two multiplications per draw; any seed is good.
#pragma once

#include <cstdint>

namespace s80 {

inline std::uint64_t split_mix(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

/// The upper half of 64 bits as a uniform number in 0 .. n-1. n must be positive and small compared with
/// 2^32.
inline std::uint32_t upper_below(std::uint64_t bits, std::uint32_t n) {
    return static_cast<std::uint32_t>(((bits >> 32) * n) >> 32);
}

}  // namespace s80
