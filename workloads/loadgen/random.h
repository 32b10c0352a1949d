// SPDX-License-Identifier: GPL-2.0-or-later
// Random streams. Every client has its own stream, derived from (seed, client), for the objects of its
// transactions. It is independent of the other clients.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "split_mix.h"

namespace s80::loadgen {

/// A number in [0, 1), from the upper bits.
inline double unit(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// A negative exponential draw, from a uniform draw.
inline double exponential(double mean, double uniform) {
    return -mean * std::log1p(-uniform);
}

/// xoshiro256** of Blackman and Vigna (2018). splitmix64 fills its state.
class Random {
public:
    explicit Random(std::uint64_t seed = 0, std::uint64_t stream = 0) {
        std::uint64_t mixer = seed * 0x9E3779B97F4A7C15 + stream * 0xD1342543DE82EF95;
        for (std::uint64_t& word : state_) {
            word = split_mix(mixer);
        }
    }

    std::uint64_t bits() {
        const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// Uniform in [0, 1).
    double uniform() { return unit(bits()); }

    /// Uniform in 0 .. n-1; n > 0 (multiply and shift: the bias is below n / 2^64).
    std::size_t below(std::size_t n) {
        return static_cast<std::size_t>((static_cast<Wide>(bits()) * n) >> 64);
    }

    /// Negative exponential.
    double exponential(double mean) { return s80::loadgen::exponential(mean, uniform()); }

private:
    __extension__ using Wide = unsigned __int128;

    std::uint64_t state_[4];
};

}  // namespace s80::loadgen
