// SPDX-License-Identifier: GPL-2.0-or-later
#include "statistics.hpp"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

constexpr TransactionType types = 10, selt = 4, move = 6, view = 7;

TEST(Statistics, ATransactionCountsInTheRegionInWhichItEnds) {
    Statistics statistics(types);
    statistics.begin_region(0);
    statistics.started(view, 100);
    statistics.begin_region(1000);
    statistics.ended(view, 100, 1500, false, {7, 3, 5});
    statistics.started(selt, 1600);
    statistics.end_region(2000);

    const Region& region = statistics.region();
    const TypeStatistics& seen = region.types[view];
    EXPECT_EQ(seen.count, 1u);
    EXPECT_EQ(seen.started, 0u);
    EXPECT_EQ(seen.latency.max(), 1400u);
    EXPECT_EQ(seen.traffic.in, 7u);
    EXPECT_EQ(seen.traffic.body, 5u);
    EXPECT_EQ(region.types[selt].started, 1u);
    EXPECT_EQ(region.in_flight_ns, 500u + 400u) << "only what lies inside the region";
}

TEST(Statistics, AFailedTransactionHasNoLatency) {
    Statistics statistics(types);
    statistics.begin_region(0);
    statistics.started(move, 0);
    statistics.ended(move, 0, 50, true, {});
    const TypeStatistics& moved = statistics.region().types[move];
    EXPECT_EQ(moved.failed, 1u);
    EXPECT_EQ(moved.count, 0u);
    EXPECT_EQ(moved.latency.count(), 0u);
}

TEST(Statistics, ErrorsOutliveTheRegionAndTheFirstIsKept) {
    Statistics statistics(types);
    statistics.error(ErrorKind::smtp, "first");
    statistics.error(ErrorKind::protocol, "second");
    statistics.begin_region(10);
    EXPECT_EQ(statistics.all_errors(), 2u);
    EXPECT_EQ(statistics.errors(static_cast<std::size_t>(ErrorKind::smtp)), 1u);
    EXPECT_EQ(statistics.first_error(), "first");
}

}  // namespace
}  // namespace s80::loadgen
