// SPDX-License-Identifier: GPL-2.0-or-later
#include "statistics.hpp"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

TEST(Statistics, ATransactionCountsInTheRegionInWhichItEnds) {
    Statistics statistics;
    statistics.begin_region(0);
    statistics.started(TransactionType::VIEW, 100);
    statistics.begin_region(1000);
    statistics.ended(TransactionType::VIEW, 100, 1500, false, 7, 3);
    statistics.started(TransactionType::SELT, 1600);
    statistics.end_region(2000);

    const Region& region = statistics.region();
    const TypeStatistics& view = region.types[index_of(TransactionType::VIEW)];
    EXPECT_EQ(view.count, 1u);
    EXPECT_EQ(view.started, 0u);
    EXPECT_EQ(view.latency.max(), 1400u);
    EXPECT_EQ(view.bytes_in, 7u);
    EXPECT_EQ(region.types[index_of(TransactionType::SELT)].started, 1u);
    EXPECT_EQ(region.in_flight_ns, 500u + 400u) << "only what lies inside the region";
}

TEST(Statistics, AFailedTransactionHasNoLatency) {
    Statistics statistics;
    statistics.begin_region(0);
    statistics.started(TransactionType::MOVE, 0);
    statistics.ended(TransactionType::MOVE, 0, 50, true, 0, 0);
    const TypeStatistics& move = statistics.region().types[index_of(TransactionType::MOVE)];
    EXPECT_EQ(move.failed, 1u);
    EXPECT_EQ(move.count, 0u);
    EXPECT_EQ(move.latency.count(), 0u);
}

TEST(Statistics, ErrorsOutliveTheRegionAndTheFirstIsKept) {
    Statistics statistics;
    statistics.error(ErrorKind::smtp, "first");
    statistics.error(ErrorKind::protocol, "second");
    statistics.begin_region(10);
    EXPECT_EQ(statistics.all_errors(), 2u);
    EXPECT_EQ(statistics.errors(static_cast<std::size_t>(ErrorKind::smtp)), 1u);
    EXPECT_EQ(statistics.first_error(), "first");
}

}  // namespace
}  // namespace s80::loadgen
