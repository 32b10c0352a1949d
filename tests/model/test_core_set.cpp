// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/core_set.h"

#include <gtest/gtest.h>

namespace s80::model {

namespace {

std::vector<unsigned> members(CoreSet set) {
    std::vector<unsigned> all;
    for (const unsigned core : set) {
        all.push_back(core);
    }
    return all;
}

}  // namespace

TEST(CoreSet, IteratesFromTheLowestNumberOn) {
    CoreSet set;
    for (const unsigned core : {kMaxCores - 1, 5U, 0U, 5U}) {
        set.add(core);
    }
    EXPECT_EQ(members(set), (std::vector<unsigned>{0, 5, kMaxCores - 1}));
    EXPECT_TRUE(set.has(kMaxCores - 1));
    EXPECT_FALSE(set.has(1));
    set.remove(5);
    EXPECT_EQ(members(set), (std::vector<unsigned>{0, kMaxCores - 1}));
}

TEST(CoreSet, OfNoCoreIsEmpty) {
    EXPECT_TRUE(CoreSet().empty());
    EXPECT_EQ(members(CoreSet()), std::vector<unsigned>{});
    EXPECT_TRUE(CoreSet::only(3).without(3).empty());
}

TEST(CoreSet, BelowTheLimitHasEveryNumber) {
    EXPECT_EQ(members(CoreSet::below(3)), (std::vector<unsigned>{0, 1, 2}));
    EXPECT_EQ(members(CoreSet::below(kMaxCores)).size(), kMaxCores);
}

TEST(CoreSet, LoopGoesOverTheSetAsItWas) {
    CoreSet set = CoreSet::below(4);
    std::vector<unsigned> seen;
    for (const unsigned core : set) {
        seen.push_back(core);
        set.remove(core);
        set.remove(3);
    }
    EXPECT_EQ(seen, (std::vector<unsigned>{0, 1, 2, 3}));
    EXPECT_TRUE(set.empty());
}

TEST(CoreSet, UnionIntersectionAndDifference) {
    const CoreSet a = CoreSet::below(3);
    const CoreSet b = CoreSet::only(2) | CoreSet::only(7);
    EXPECT_EQ(members(a | b), (std::vector<unsigned>{0, 1, 2, 7}));
    EXPECT_EQ(members(a & b), (std::vector<unsigned>{2}));
    EXPECT_EQ(members(a - b), (std::vector<unsigned>{0, 1}));
}

}  // namespace s80::model
