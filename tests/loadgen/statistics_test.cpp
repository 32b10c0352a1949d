// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "histogram.h"
#include "statistics.h"

namespace s80::loadgen {
namespace {

constexpr TransactionType kTypes = 10, kSelt = 4, kMove = 6, kView = 7;

TEST(Statistics, ATransactionCountsInTheRegionInWhichItEnds) {
    Statistics statistics(kTypes);
    statistics.begin_region(0);
    statistics.started(kView, 100);
    statistics.begin_region(1000);
    statistics.ended(kView, 100, 1500, false, {7, 3, 5});
    statistics.started(kSelt, 1600);
    statistics.end_region(2000);

    const Region& region = statistics.region();
    const TypeStatistics& seen = region.types[kView];
    EXPECT_EQ(seen.count, 1u);
    EXPECT_EQ(seen.started, 0u);
    EXPECT_EQ(seen.latency.max(), 1400u);
    EXPECT_EQ(seen.traffic.in, 7u);
    EXPECT_EQ(seen.traffic.body, 5u);
    EXPECT_EQ(region.types[kSelt].started, 1u);
    EXPECT_EQ(region.in_flight_ns, 500u + 400u) << "only what lies inside the region";
}

TEST(Statistics, AFailedTransactionHasNoLatency) {
    Statistics statistics(kTypes);
    statistics.begin_region(0);
    statistics.started(kMove, 0);
    statistics.ended(kMove, 0, 50, true, {});
    const TypeStatistics& moved = statistics.region().types[kMove];
    EXPECT_EQ(moved.failed, 1u);
    EXPECT_EQ(moved.count, 0u);
    EXPECT_EQ(moved.latency.count(), 0u);
}

TEST(Statistics, ErrorsOutliveTheRegionAndTheFirstIsKept) {
    Statistics statistics(kTypes);
    statistics.error(ErrorKind::smtp, "first");
    statistics.error(ErrorKind::protocol, "second");
    statistics.begin_region(10);
    EXPECT_EQ(statistics.all_errors(), 2u);
    EXPECT_EQ(statistics.errors(static_cast<std::size_t>(ErrorKind::smtp)), 1u);
    EXPECT_EQ(statistics.first_error(), "first");
}

TEST(Histogram, IsEmptyAtFirst) {
    const Histogram histogram;
    EXPECT_EQ(histogram.percentile(50), 0u);
    EXPECT_EQ(histogram.mean(), 0u);
    EXPECT_TRUE(histogram.buckets().empty());
}

TEST(Histogram, PercentilesChangeExactlyAtTheirRank) {
    Histogram histogram;  // 1 .. 100, each in a bucket of its own
    for (std::uint64_t value = 1; value <= 100; ++value) {
        histogram.add(value);
    }
    EXPECT_EQ(histogram.percentile(50), 50u);
    EXPECT_EQ(histogram.percentile(90), 90u);
    EXPECT_EQ(histogram.percentile(99), 99u);
    EXPECT_EQ(histogram.percentile(99.1), 100u);
    EXPECT_EQ(histogram.mean(), 50u);
}

TEST(Histogram, ValuesBelow128HaveBucketsOfTheirOwnAndThenTwoShareOne) {
    Histogram histogram;
    for (const std::uint64_t value : {126, 127, 128, 129, 130}) {
        histogram.add(value);
    }
    std::vector<std::uint64_t> bounds;
    for (const auto& bucket : histogram.buckets()) {
        bounds.push_back(bucket.upper_ns);
    }
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
