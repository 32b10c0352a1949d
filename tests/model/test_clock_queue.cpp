// SPDX-License-Identifier: GPL-2.0-or-later
#include "timing/clock_queue.h"

#include <gtest/gtest.h>

#include <set>

#include "random_epochs.h"

namespace s80::model {

TEST(ClockQueue, TheEarliestIsFirstAndOfEqualOnesTheLowestNumber) {
    ClockQueue turns;
    turns.clear();
    turns.add(7, 100);
    turns.add(3, 200);
    turns.add(5, 100);
    EXPECT_EQ(turns.next(), 100);
    EXPECT_EQ(turns.take(), 5U);
    EXPECT_EQ(turns.take(), 7U);
    EXPECT_EQ(turns.next(), 200);
    EXPECT_EQ(turns.take(), 3U);
    EXPECT_TRUE(turns.empty());
    EXPECT_GT(turns.next(), std::int64_t{1} << 50);
}

TEST(ClockQueue, AsASetHasThemOverManyTurns) {
    ClockQueue turns;
    turns.clear();
    std::set<std::pair<std::int64_t, unsigned>> expected;
    test::Draw draw(3);
    for (unsigned p = 0; p < kMaxCores; ++p) {
        turns.add(p, 0);
        expected.emplace(0, p);
    }
    for (int i = 0; i < 10'000; ++i) {
        ASSERT_EQ(turns.next(), expected.begin()->first);
        const auto [moment, processor] = *expected.begin();
        expected.erase(expected.begin());
        ASSERT_EQ(turns.take(), processor);
        const std::int64_t later = moment + draw.below(300);
        turns.add(processor, later);
        expected.emplace(later, processor);
    }
}

}  // namespace s80::model
