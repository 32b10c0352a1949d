// SPDX-License-Identifier: GPL-2.0-or-later
// Golden orders, access by access.
#include "cache/replacement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "cache/geometry.h"
#include "machine/machine.h"

namespace s80::model {

namespace {

/// The state of one set.
class SetState {
public:
    explicit SetState(const Replacement& policy) { policy.init(bytes_.data()); }
    operator std::byte*() { return bytes_.data(); }

private:
    std::array<std::byte, 64> bytes_{};
};

}  // namespace

TEST(Lru, EvictsTheLeastRecentlyUsed) {
    Replacement r(Policy::lru, 4);
    SetState set(r);
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
    SetState set(r);
    r.touch(set, 15);
    EXPECT_EQ(r.victim(set), 14U);
    for (unsigned way = 0; way < 16; ++way) {
        r.touch(set, way);
    }
    EXPECT_EQ(r.victim(set), 0U);
}

TEST(Lru, ThirtyTwoWaysAreInTheOrderOfTheirUse) {
    Replacement r(Policy::lru, kMaxWays);
    EXPECT_EQ(Replacement::bytes(Policy::lru, kMaxWays), kMaxWays);
    SetState set(r);
    std::vector<unsigned> recent(kMaxWays);
    std::iota(recent.begin(), recent.end(), 0U);
    for (unsigned n = 0; n < 1000; ++n) {
        const unsigned way = n * n % 31 + n % 2;
        r.touch(set, way);
        recent.erase(std::find(recent.begin(), recent.end(), way));
        recent.insert(recent.begin(), way);
        ASSERT_EQ(r.victim(set), recent.back());
    }
}

TEST(Replacement, StateOfASetKeepsItsSizeOfOlderFiles) {
    for (const Policy policy : {Policy::lru, Policy::plru, Policy::random}) {
        EXPECT_EQ(Replacement::bytes(policy, 8), 4U);
        EXPECT_EQ(Replacement::bytes(policy, 9), 8U);
        EXPECT_EQ(Replacement::bytes(policy, 16), 8U);
    }
}

TEST(Plru, PointsAwayFromTheLastUse) {
    Replacement r(Policy::plru, 4);
    SetState set(r);
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
        const unsigned way = a.victim(nullptr);
        EXPECT_EQ(way, b.victim(nullptr));
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
