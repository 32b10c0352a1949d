// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/filter_key.h"

#include <gtest/gtest.h>

namespace s80::plugin {

TEST(FilterKey, OfAnotherIntervalMatchesNothing) {
    FilterKey key;
    key.begin();
    const std::uint64_t before = key(7);
    EXPECT_NE(before, key(8));
    EXPECT_NE(before, 0U);
    EXPECT_TRUE(key.next());
    EXPECT_NE(key(7), before);
}

TEST(FilterKey, SaysWhenTheNumberOfTheIntervalComesRound) {
    FilterKey key;
    key.begin();
    const std::uint64_t first = key(0);
    std::uint64_t intervals = 1;
    while (key.next()) {
        ASSERT_NE(key(0), first);
        ++intervals;
    }
    EXPECT_EQ(intervals, (1U << 23) - 1) << "the bits above 41, without the number 0";
    EXPECT_EQ(key(0), first) << "a key that an entry may still hold";
}

}  // namespace s80::plugin
