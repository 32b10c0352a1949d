// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers that follow from a reference, as the server draws them (workloads/servers/jbb/Draws.java), and the
// contents of an order or a payment with that reference.
#pragma once

#include <cstdint>

#include "split_mix.h"

namespace s80::loadgen::jbb {

class Draws {
public:
    explicit Draws(std::uint64_t reference) : state_(reference) {}

    std::uint64_t bits() { return split_mix(state_); }

    /// 0 to n-1.
    std::uint32_t below(std::uint32_t n) { return high(bits(), n); }

    static std::uint32_t high(std::uint64_t bits, std::uint32_t n) { return upper_below(bits, n); }
    static std::uint32_t low(std::uint64_t bits, std::uint32_t n) { return upper_below(bits << 32, n); }

private:
    std::uint64_t state_;
};

/// The sizes of a warehouse, as the server reports them.
struct Sizes {
    std::uint32_t districts = 0;
    std::uint32_t customers = 0;  // a district
    std::uint32_t items = 0;
    std::uint32_t filled = 0;  // orders that there are before the first client's
    std::uint32_t rounds = 0;  // deliveries of one a district, made of them
};

struct Order {
    std::uint32_t district;
    std::uint32_t customer;
    std::uint32_t lines;
    std::int64_t total;  // cents

    Order(std::uint64_t reference, const Sizes& sizes);
};

/// The price of one piece in cents.
constexpr std::uint32_t price(std::uint32_t item) {
    return 100 + (((item * 40503) & 0xFFFF) * 9900 >> 16);
}

/// The amount of a payment in cents.
std::uint32_t payment(std::uint64_t reference, const Sizes& sizes);

}  // namespace s80::loadgen::jbb
