// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtp/jitter.h"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

TEST(Jitter, OfAnEvenStreamIsNoneWhateverTheTransitTime) {
    Jitter jitter;
    EXPECT_EQ(jitter.add(1000 * kMs, 0), std::nullopt);
    for (std::uint64_t i = 1; i < 20; ++i) {
        EXPECT_EQ(jitter.add((1000 + 20 * i) * kMs, 20 * i * kMs), 0u);
    }
    EXPECT_EQ(jitter.value_ns(), 0u);
}

TEST(Jitter, IsASixteenthOfEachDifferenceCloser) {
    Jitter jitter;
    jitter.add(0, 0);
    EXPECT_EQ(jitter.add(28 * kMs, 20 * kMs), 8 * kMs);  // 8 ms late
    EXPECT_EQ(jitter.value_ns(), 8 * kMs / 16);
    EXPECT_EQ(jitter.add(40 * kMs, 40 * kMs), 8 * kMs);  // in time again: as great a difference
    EXPECT_EQ(jitter.value_ns(), 8 * kMs / 16 + (8 * kMs - 8 * kMs / 16) / 16);
}

TEST(Jitter, APacketIsNotComparedWithThoseOfAnotherStream) {
    Jitter jitter;
    jitter.add(0, 0);
    jitter.add(36 * kMs, 20 * kMs);
    jitter.begin_stream();
    EXPECT_EQ(jitter.add(5000 * kMs, 0), std::nullopt);
    EXPECT_EQ(jitter.value_ns(), kMs) << "the estimate goes on";
}

TEST(Jitter, OutOfOrderStampsCountAsTheyAre) {
    Jitter jitter;
    jitter.add(100 * kMs, 40 * kMs);
    EXPECT_EQ(jitter.add(101 * kMs, 20 * kMs), 21 * kMs);
}

}  // namespace
}  // namespace s80::loadgen
