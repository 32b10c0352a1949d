// SPDX-License-Identifier: GPL-2.0-or-later
#include "jbb/draws.h"

namespace s80::loadgen::jbb {

namespace {

constexpr std::uint32_t kFewestLines = 5;
constexpr std::uint32_t kMostLines = 15;
constexpr std::uint32_t kMostPieces = 10;
constexpr std::uint32_t kDiscounts = 20;  // percent, by the customer's number
constexpr std::uint32_t kLeastCents = 100;
constexpr std::uint32_t kMostCents = 500'000;

}  // namespace

Order::Order(std::uint64_t reference, const Sizes& sizes) : total(0) {
    Draws draws(reference);
    district = draws.below(sizes.districts);
    customer = draws.below(sizes.customers);
    lines = kFewestLines + draws.below(kMostLines - kFewestLines + 1);
    for (std::uint32_t i = 0; i < lines; ++i) {
        const std::uint64_t bits = draws.bits();
        total += price(Draws::high(bits, sizes.items)) * (1 + Draws::low(bits, kMostPieces));
    }
    total = total * (100 - customer % kDiscounts) / 100;
}

std::uint32_t payment(std::uint64_t reference, const Sizes& sizes) {
    Draws draws(reference);
    draws.below(sizes.districts);
    draws.below(sizes.customers);
    return kLeastCents + draws.below(kMostCents);
}

}  // namespace s80::loadgen::jbb
