// SPDX-License-Identifier: GPL-2.0-or-later
// The only source of chance in the mail store: equal seeds give equal bytes.
#pragma once

#include <cstdint>

#include "split_mix.h"

namespace s80::mailstore {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() { return split_mix(state_); }

    /// Uniform in 0 .. n-1; n > 0 and small beside 2^32.
    std::uint32_t below(std::uint32_t n) { return upper_below(bits(), n); }

private:
    std::uint64_t state_;
};

}  // namespace s80::mailstore
