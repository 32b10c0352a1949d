// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock.hpp"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

TEST(Clock, WithoutShiftIsTheMonotonicClock) {
    const Clock clock("host");
    EXPECT_EQ(clock.monotonic_ns(50'000'000), 50'000'000u);
}

TEST(Clock, WithShiftRunsSlowerThanTheMonotonicClock) {
    Clock clock("host");
    const std::uint64_t before = clock.now();
    clock.set_shift(3);
    EXPECT_GE(clock.now(), before / 8);
    EXPECT_LT(clock.now(), before / 4);
    EXPECT_EQ(clock.monotonic_ns(50'000'000), 400'000'000u);
}

}  // namespace
}  // namespace s80::loadgen
