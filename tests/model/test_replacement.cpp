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
    for (const Policy policy : {Policy::lru, Policy::plru, Policy::random, Policy::srrip}) {
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

TEST(Srrip, EvictsLinesThatWereUsedOnceFirst) {
    Replacement r(Policy::srrip, 4);
    SetState set(r);
    for (unsigned way = 0; way < 4; ++way) {
        EXPECT_EQ(r.victim(set), way);  // an untouched way is distant
        r.fill(set, way);               // at last 2 2 2 2
    }
    r.touch(set, 0);               // 0 2 2 2
    EXPECT_EQ(r.victim(set), 1U);  // grown to 1 3 3 3
    r.fill(set, 1);                // 1 2 3 3
    EXPECT_EQ(r.victim(set), 2U);
    r.touch(set, 2);  // 1 2 0 3
    EXPECT_EQ(r.victim(set), 3U);
    r.touch(set, 3);               // 1 2 0 0
    EXPECT_EQ(r.victim(set), 1U);  // grown to 2 3 1 1
    r.touch(set, 1);               // 2 0 1 1
    EXPECT_EQ(r.victim(set), 0U);  // the hit of long ago is forgotten
}

/// The paper's case: a scan between two uses of a working set. LRU would lose the working set.
TEST(Srrip, AScanDoesNotReplaceTheWorkingSet) {
    Replacement r(Policy::srrip, 8);
    SetState set(r);
    for (unsigned way = 0; way < 4; ++way) {
        r.fill(set, way);
        r.touch(set, way);
    }
    for (unsigned scanned = 0; scanned < 12; ++scanned) {
        const unsigned way = r.victim(set);
        EXPECT_GE(way, 4U);
        r.fill(set, way);
    }
}

TEST(Srrip, ThirtyTwoWaysFitIntoOneWord) {
    EXPECT_EQ(Replacement::bytes(Policy::srrip, kMaxWays), 8U);
    Replacement r(Policy::srrip, kMaxWays);
    SetState set(r);
    for (unsigned way = 0; way < kMaxWays; ++way) {
        EXPECT_EQ(r.victim(set), way);
        r.fill(set, way);
    }
    EXPECT_EQ(r.victim(set), 0U);
}

TEST(Replacement, AFillIsATouchUnlessThePolicySaysOtherwise) {
    for (const Policy policy : {Policy::lru, Policy::plru}) {
        Replacement r(policy, 4);
        SetState filled(r);
        SetState touched(r);
        for (const unsigned way : {2U, 0U, 3U}) {
            r.fill(filled, way);
            r.touch(touched, way);
            EXPECT_EQ(r.victim(filled), r.victim(touched));
        }
    }
}

TEST(Policy, UnknownNameSaysWhatIsAllowed) {
    try {
        position(kPolicyKey, "fifo", "m.toml");
        FAIL();
    } catch (const Error& e) {
        EXPECT_STREQ(e.what(),
                     "m.toml: key `replacement.policy`: `fifo` is not one of its values; allowed are lru, "
                     "plru, random");
    }
}

}  // namespace s80::model
