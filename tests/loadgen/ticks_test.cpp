// SPDX-License-Identifier: GPL-2.0-or-later
#include "ticks.hpp"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

// 250 interrupts a second of a timer of 1 GHz behind a divider of 16
constexpr std::uint32_t kernel_count = 250'000;

TEST(TickRate, ATenthOfTheModelledRateIsALongerCount) {
    TickRate rate(kernel_count, 0.07);
    // 100 a modelled second, which takes 6.5 seconds of guest time: one in 65 ms of it
    EXPECT_EQ(rate.change(100, 6.5), 4'062'500u);
    EXPECT_EQ(rate.count(), 4'062'500u);
}

TEST(TickRate, SmallDriftsAreLetBe) {
    TickRate rate(kernel_count, 0.07);
    rate.change(100, 6.5);
    EXPECT_EQ(rate.change(100, 6.5 * 1.06), std::nullopt);
    EXPECT_EQ(rate.change(100, 6.5 / 1.06), std::nullopt);
    EXPECT_NE(rate.change(100, 6.5 * 1.09), std::nullopt);
}

TEST(TickRate, WhoLivesByThemMayHaveThemCloser) {
    TickRate rate(kernel_count, 0.02);
    rate.change(100, 6.5);
    EXPECT_EQ(rate.change(100, 6.5 * 1.015), std::nullopt);
    EXPECT_NE(rate.change(100, 6.5 * 1.03), std::nullopt);
}

TEST(TickRate, KnowsTheRatioThatItsCountIsFor) {
    TickRate rate(kernel_count, 0.07);
    EXPECT_DOUBLE_EQ(rate.exact_at(250), 1);
    rate.change(100, 6.5);
    rate.change(100, 6.5 * 1.06);
    EXPECT_DOUBLE_EQ(rate.exact_at(100), 6.5);
}

TEST(TickRate, TheKernelsOwnRateIsLeftAloneAndRestored) {
    TickRate rate(kernel_count, 0.07);
    EXPECT_EQ(rate.change(0, 6.5), std::nullopt);
    rate.change(100, 6.5);
    EXPECT_EQ(rate.change(0, 2.0), kernel_count);
}

TEST(TickRate, ACountThatTheTimerCannotHoldIsNotWritten) {
    TickRate rate(kernel_count, 0.07);
    EXPECT_EQ(rate.change(0.001, 100), std::nullopt);
    EXPECT_EQ(rate.count(), kernel_count);
}

}  // namespace
}  // namespace s80::loadgen
