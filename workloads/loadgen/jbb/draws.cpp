// SPDX-License-Identifier: GPL-2.0-or-later
#include "jbb/draws.hpp"

namespace s80::loadgen::jbb {

namespace {

constexpr std::uint32_t fewest_lines = 5;
constexpr std::uint32_t most_lines = 15;
constexpr std::uint32_t most_pieces = 10;
constexpr std::uint32_t discounts = 20;  // percent, by the customer's number
constexpr std::uint32_t least_cents = 100;
constexpr std::uint32_t most_cents = 500'000;

}  // namespace

Order::Order(std::uint64_t reference, const Sizes& sizes) : total(0) {
    Draws draws(reference);
    district = draws.below(sizes.districts);
    customer = draws.below(sizes.customers);
    lines = fewest_lines + draws.below(most_lines - fewest_lines + 1);
    for (std::uint32_t i = 0; i < lines; ++i) {
        const std::uint64_t bits = draws.bits();
        total += price(Draws::high(bits, sizes.items)) * (1 + Draws::low(bits, most_pieces));
    }
    total = total * (100 - customer % discounts) / 100;
}

std::uint32_t payment(std::uint64_t reference, const Sizes& sizes) {
    Draws draws(reference);
    draws.below(sizes.districts);
    draws.below(sizes.customers);
    return least_cents + draws.below(most_cents);
}

}  // namespace s80::loadgen::jbb
