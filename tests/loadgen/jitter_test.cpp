// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtp/jitter.hpp"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

constexpr std::uint64_t ms = 1'000'000;

TEST(Jitter, OfAnEvenStreamIsNoneWhateverTheTransitTime) {
    Jitter jitter;
    EXPECT_EQ(jitter.add(1000 * ms, 0), std::nullopt);
    for (std::uint64_t i = 1; i < 20; ++i) EXPECT_EQ(jitter.add((1000 + 20 * i) * ms, 20 * i * ms), 0u);
    EXPECT_EQ(jitter.value_ns(), 0u);
}

TEST(Jitter, IsASixteenthOfEachDifferenceCloser) {
    Jitter jitter;
    jitter.add(0, 0);
    EXPECT_EQ(jitter.add(28 * ms, 20 * ms), 8 * ms);  // 8 ms late
    EXPECT_EQ(jitter.value_ns(), 8 * ms / 16);
    EXPECT_EQ(jitter.add(40 * ms, 40 * ms), 8 * ms);  // in time again: as great a difference
    EXPECT_EQ(jitter.value_ns(), 8 * ms / 16 + (8 * ms - 8 * ms / 16) / 16);
}

TEST(Jitter, APacketIsNotComparedWithThoseOfAnotherStream) {
    Jitter jitter;
    jitter.add(0, 0);
    jitter.add(36 * ms, 20 * ms);
    jitter.begin_stream();
    EXPECT_EQ(jitter.add(5000 * ms, 0), std::nullopt);
    EXPECT_EQ(jitter.value_ns(), ms) << "the estimate goes on";
}

TEST(Jitter, OutOfOrderStampsCountAsTheyAre) {
    Jitter jitter;
    jitter.add(100 * ms, 40 * ms);
    EXPECT_EQ(jitter.add(101 * ms, 20 * ms), 21 * ms);
}

}  // namespace
}  // namespace s80::loadgen
