// SPDX-License-Identifier: GPL-2.0-or-later
#include "turn_bound.hpp"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

TEST(TurnBound, HalfAPeriodIsATurnOfEachProcessor) {
    // 18 turns of 5000 ns: 90 microseconds, 107.4 ticks of the timer, twice
    EXPECT_EQ(pit_count(5000, 18), 215);
    EXPECT_EQ(pit_count(2500, 18), 107);
    EXPECT_EQ(pit_count(5000, 1), 12);
}

TEST(TurnBound, TheCounterHasSixteenBits) {
    EXPECT_EQ(pit_count(10'000'000, 18), 65535);
    EXPECT_EQ(pit_count(1, 1), 2);
}

}  // namespace
}  // namespace s80::loadgen
