// SPDX-License-Identifier: GPL-2.0-or-later
// When snapshots are due: one instruction before the boundary nothing, at the boundary the mark.
#include <gtest/gtest.h>

#include "plugin/schedule.h"

namespace s80::plugin {

using model::Mark;

TEST(Schedule, NothingBeforeTheLoadBegins) {
    Schedule s(0, 0, 100);
    EXPECT_EQ(s.due(1'000'000), Mark::none);
}

TEST(Schedule, WarmUpIsCutIntoIntervals) {
    Schedule s(0, 0, 100);
    s.begin(1000);
    EXPECT_EQ(s.due(1099), Mark::none);
    EXPECT_EQ(s.due(1100), Mark::interval);
    EXPECT_EQ(s.due(1199), Mark::none);
    EXPECT_EQ(s.due(1205), Mark::interval);  // rounds end late; the next interval is a whole one
    EXPECT_EQ(s.due(1304), Mark::none);
    EXPECT_EQ(s.due(1305), Mark::interval);
    EXPECT_EQ(s.index(), 3U);
}

TEST(Schedule, TheRegionBeginsAfterTheSkipAndEndsAfterItsLength) {
    Schedule s(30, 200, 100);
    s.begin(0);
    EXPECT_EQ(s.phase(), Phase::warm_up);
    EXPECT_EQ(s.due(29), Mark::none);
    EXPECT_EQ(s.due(33), Mark::measure_begin);
    EXPECT_EQ(s.phase(), Phase::measured);
    EXPECT_EQ(s.due(132), Mark::none);
    EXPECT_EQ(s.due(133), Mark::interval);
    EXPECT_EQ(s.due(232), Mark::none);
    EXPECT_EQ(s.due(233), Mark::measure_end);
    EXPECT_EQ(s.phase(), Phase::done);
    EXPECT_EQ(s.due(333), Mark::interval);
}

TEST(Schedule, AShortLastIntervalJoinsTheOneBefore) {
    Schedule s(10, 130, 100);
    s.begin(0);
    EXPECT_EQ(s.due(10), Mark::measure_begin);
    EXPECT_EQ(s.due(110), Mark::none);
    EXPECT_EQ(s.due(140), Mark::measure_end);
}

TEST(Schedule, IntervalsGrowWithTheRun) {
    Schedule s(0, 0, 100, 20);
    s.begin(500);
    std::uint64_t snapshots = 0;
    for (std::uint64_t total = 500; total < 2'600; ++total) {
        snapshots += s.due(total) != Mark::none;
    }
    EXPECT_EQ(snapshots,
              20U);  // the last one at 2,500: from there on, one twentieth is longer than an interval
    for (std::uint64_t total = 2'600; total < 2'000'500; ++total) {
        snapshots += s.due(total) != Mark::none;
    }
    EXPECT_EQ(s.index(), snapshots);
    EXPECT_LT(snapshots, 170U);  // without growth 20,000
}

TEST(Schedule, AProgramsRegionBeginsTheIntervalsOnce) {
    Schedule s(0, 0, 100);
    s.begin_region(50);
    s.begin_region(120);
    EXPECT_EQ(s.due(149), Mark::none);
    EXPECT_EQ(s.due(150), Mark::interval);
    Schedule measured(0, 1'000, 100);  // the schedule has a region of its own
    measured.begin_region(50);
    EXPECT_EQ(measured.due(5'000), Mark::none);
}

TEST(Schedule, AnImmediateRegion) {
    Schedule s(0, 50, 100);
    s.begin(500);
    EXPECT_EQ(s.due(500), Mark::measure_begin);
    EXPECT_EQ(s.due(550), Mark::measure_end);
}

}  // namespace s80::plugin
