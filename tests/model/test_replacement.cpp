// SPDX-License-Identifier: GPL-2.0-or-later
// Golden orders, access by access.
#include "cache/replacement.h"

#include <gtest/gtest.h>

#include "machine/machine.h"

namespace s80::model {

TEST(Lru, EvictsTheLeastRecentlyUsed) {
    Replacement r(Policy::lru, 4);
    auto set = r.initial();
    EXPECT_EQ(r.victim(set), 3U);  // untouched: order 0 1 2 3
    r.touch(set, 3);               // 3 0 1 2
    EXPECT_EQ(r.victim(set), 2U);
    r.touch(set, 2);  // 2 3 0 1
    r.touch(set, 1);  // 1 2 3 0
    EXPECT_EQ(r.victim(set), 0U);
    r.touch(set, 0);  // 0 1 2 3
    r.touch(set, 3);  // 3 0 1 2
    r.touch(set, 3);  // no change
    EXPECT_EQ(r.victim(set), 2U);
}

TEST(Lru, SixteenWaysUseTheWholeWord) {
    Replacement r(Policy::lru, 16);
    auto set = r.initial();
    r.touch(set, 15);
    EXPECT_EQ(r.victim(set), 14U);
    for (unsigned way = 0; way < 16; ++way) {
        r.touch(set, way);
    }
    EXPECT_EQ(r.victim(set), 0U);
}

TEST(Plru, PointsAwayFromTheLastUse) {
    Replacement r(Policy::plru, 4);
    auto set = r.initial();
    EXPECT_EQ(r.victim(set), 0U);
    r.touch(set, 0);
    EXPECT_EQ(r.victim(set), 2U);
    r.touch(set, 2);
    EXPECT_EQ(r.victim(set), 1U);
    r.touch(set, 1);
    EXPECT_EQ(r.victim(set), 3U);
}

TEST(Random, IsTheSameEveryTimeAndReachesEveryWay) {
    Replacement a(Policy::random, 4);
    Replacement b(Policy::random, 4);
    unsigned seen = 0;
    for (int i = 0; i < 100; ++i) {
        const unsigned way = a.victim(0);
        EXPECT_EQ(way, b.victim(0));
        ASSERT_LT(way, 4U);
        seen |= 1U << way;
    }
    EXPECT_EQ(seen, 15U);
}

TEST(Policy, UnknownNameSaysWhatIsAllowed) {
    try {
        parse_policy("fifo", "m.toml");
        FAIL();
    } catch (const Error& e) {
        EXPECT_STREQ(e.what(), "m.toml: replacement.policy is 'fifo'; allowed: lru, plru, random");
    }
}

}  // namespace s80::model
