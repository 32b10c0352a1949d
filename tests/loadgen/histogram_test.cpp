// SPDX-License-Identifier: GPL-2.0-or-later
#include "histogram.hpp"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
    const Histogram histogram;
    EXPECT_EQ(histogram.percentile(50), 0u);
    EXPECT_EQ(histogram.mean(), 0u);
    EXPECT_TRUE(histogram.buckets().empty());
}

TEST(Histogram, PercentilesChangeExactlyAtTheirRank) {
    Histogram histogram;  // 1 .. 100, each in a bucket of its own
    for (std::uint64_t value = 1; value <= 100; ++value) histogram.add(value);
    EXPECT_EQ(histogram.percentile(50), 50u);
    EXPECT_EQ(histogram.percentile(90), 90u);
    EXPECT_EQ(histogram.percentile(99), 99u);
    EXPECT_EQ(histogram.percentile(99.1), 100u);
    EXPECT_EQ(histogram.mean(), 50u);
}

TEST(Histogram, ValuesBelow128HaveBucketsOfTheirOwnAndThenTwoShareOne) {
    Histogram histogram;
    for (const std::uint64_t value : {126, 127, 128, 129, 130}) histogram.add(value);
    std::vector<std::uint64_t> bounds;
    for (const auto& bucket : histogram.buckets()) bounds.push_back(bucket.upper_ns);
    EXPECT_EQ(bounds, (std::vector<std::uint64_t>{126, 127, 129, 131}));
}

TEST(Histogram, BoundsAreWithinTwoPercent) {
    for (double value = 1; value < 1e13; value *= 1.37) {
        const auto ns = static_cast<std::uint64_t>(value);
        Histogram histogram;
        histogram.add(ns);
        const std::uint64_t bound = histogram.buckets().at(0).upper_ns;
        EXPECT_GE(bound, ns);
        EXPECT_LE(static_cast<double>(bound), static_cast<double>(ns) * 1.02);
        EXPECT_EQ(histogram.percentile(99), ns) << "never above the maximum";
    }
}

}  // namespace
}  // namespace s80::loadgen
