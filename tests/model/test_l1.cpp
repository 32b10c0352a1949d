// SPDX-License-Identifier: GPL-2.0-or-later
// The L1s under an inclusive L2: permission, inclusion, and a core's own instructions and data.
#include "small_machine.h"

namespace s80::model {

using L1 = SmallMachine;

TEST_F(L1, HitWithPermissionCostsNothingAndIsNotSeenByTheL2) {
    store(0, X);
    const auto before = sum(Stat::l2_accesses);
    EXPECT_EQ(store(0, X), 0U);
    EXPECT_EQ(load(0, X), 0U);
    EXPECT_EQ(sum(Stat::l2_accesses), before);
}

TEST_F(L1, StoreToALoadedLineAsksOnceForPermission) {
    load(0, X);
    EXPECT_FALSE(h.caches().l1_writable(0, X));
    EXPECT_EQ(store(0, X), kL2Hit);  // E to M
    EXPECT_TRUE(h.caches().l1_writable(0, X));
    EXPECT_EQ(store(0, X), 0U);
    EXPECT_EQ(sum(Stat::l1_misses), 1U);
    EXPECT_EQ(sum(Stat::l2_accesses), 2U);
}

TEST_F(L1, RemoteReadTakesTheStorePermission) {
    store(0, X);
    load(1, X);
    EXPECT_TRUE(h.caches().in_l1(0, X, false));
    EXPECT_FALSE(h.caches().l1_writable(0, X));
    EXPECT_EQ(store(0, X), kUpgrade);
}

TEST_F(L1, RemoteStoreDropsTheLineFromBothL1s) {
    load(0, X);
    fetch(0, X);
    store(1, X);
    EXPECT_FALSE(h.caches().in_l1(0, X, false));
    EXPECT_FALSE(h.caches().in_l1(0, X, true));
}

TEST_F(L1, EvictionFromTheL2DropsTheLineFromTheL1) {
    fetch(0, X);
    load(0, X2);
    load(0, X3);  // X was the oldest of the L2's set
    EXPECT_FALSE(h.caches().in_l1(0, X, true));
}

TEST_F(L1, EvictionFromTheL1KeepsTheLineInTheL2) {
    store(0, X);
    load(0, Y);
    EXPECT_FALSE(h.caches().in_l1(0, X, false));
    EXPECT_EQ(state(0), "M");
}

TEST_F(L1, OwnStoreDropsTheInstructionCopy) {
    fetch(0, X);
    store(0, X);
    EXPECT_FALSE(h.caches().in_l1(0, X, true));
    EXPECT_EQ(fetch(0, X), kL2Hit);
    EXPECT_FALSE(h.caches().l1_writable(0, X));  // the next store must drop it again
}

TEST_F(L1, LoadOfAModifiedLineGetsPermissionUnlessItIsCodeToo) {
    store(0, X);
    load(0, Y);
    load(0, X);
    EXPECT_TRUE(h.caches().l1_writable(0, X));
    fetch(0, X);
    load(0, Y);
    load(0, X);
    EXPECT_FALSE(h.caches().l1_writable(0, X));
}

}  // namespace s80::model
