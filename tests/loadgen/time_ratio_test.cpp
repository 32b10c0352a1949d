// SPDX-License-Identifier: GPL-2.0-or-later
#include "time_ratio.hpp"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

constexpr std::uint64_t ms = 1'000'000;

/// Both clocks from a moment on, one of them so many times as fast.
void run(TimeRatio& ratio, double factor, std::uint64_t modelled_ms) {
    for (std::uint64_t now = 0; now <= modelled_ms; now += 20) {
        const auto modelled_ns = static_cast<double>(now * ms);
        ratio.update(5000 * ms + static_cast<std::uint64_t>(factor * modelled_ns), 700 * ms + now * ms);
    }
}

TEST(TimeRatio, IsNominalUntilBothClocksHaveMoved) {
    TimeRatio ratio(6.5);
    ratio.update(123 * ms, 0);
    EXPECT_EQ(ratio.value(), 6.5);
    ratio.update(999 * ms, 9 * ms);
    EXPECT_EQ(ratio.value(), 6.5) << "closer than 10 ms";
}

TEST(TimeRatio, FollowsTheClocksWithinModelledSeconds) {
    TimeRatio ratio(6.5);
    run(ratio, 2.0, 250);
    EXPECT_NEAR(ratio.value(), 2.0 + 4.5 * 0.36, 0.1) << "after a quarter of a second a third is left";
    run(ratio, 2.0, 3000);
    EXPECT_NEAR(ratio.value(), 2.0, 0.02);
}

TEST(TimeRatio, ALongSilenceIsTakenAsItWas) {
    TimeRatio ratio(6.5);
    ratio.update(0, 0);
    ratio.update(3000 * ms, 1000 * ms);
    EXPECT_EQ(ratio.value(), 3.0);
}

TEST(TimeRatio, StartsAnew) {
    TimeRatio ratio(6.5);
    run(ratio, 2.0, 3000);
    ratio.restart(4);
    ratio.update(1, 1);
    EXPECT_EQ(ratio.value(), 4);
}

}  // namespace
}  // namespace s80::loadgen
