// SPDX-License-Identifier: GPL-2.0-or-later
// The only source of chance in the mail store: equal seeds give equal bytes.
#pragma once

#include <cstdint>

namespace s80::mailstore {

/// SplitMix64 (Steele, Lea and Flood 2014): one addition and two multiplications a draw, any seed is good.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    /// Uniform in 0 .. n-1; n > 0 and small beside 2^32.
    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>(((bits() >> 32) * n) >> 32);
    }

private:
    std::uint64_t state_;
};

}  // namespace s80::mailstore
