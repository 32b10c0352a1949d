// SPDX-License-Identifier: GPL-2.0-or-later
// An L2 exclusive of its L1s, with hammer's table: where a block goes, who is evicted, and what is counted.
// The L1s hold one line each, the L2 two lines of each parity.
#include "small_machine.h"

namespace s80::model {

namespace {

Machine exclusive_machine(Policy policy = Policy::lru) {
    Machine m = small_machine();
    m.l2_inclusion = "exclusive";
    m.policy = policy;
    return m;
}

}  // namespace

class Exclusive : public SmallMachine {
protected:
    static constexpr Line X4 = 10;  ///< of X's set, as X, X2 and X3
    Exclusive() : SmallMachine(exclusive_machine(), shipped("hammer")) {}

    /// Where core 0 holds a line: D, I (L1s), 2, or what of them.
    std::string where(Line line, unsigned core = 0) const {
        return std::string(h.caches().in_l1(core, line, false) ? "D" : "") +
               (h.caches().in_l1(core, line, true) ? "I" : "") + (h.caches().in_l2(core, line) ? "2" : "");
    }
};

TEST_F(Exclusive, AFillEntersTheL1Alone) {
    EXPECT_EQ(load(0, X), kMemory);
    EXPECT_EQ(where(X), "D");
    EXPECT_EQ(state(0), "E");
    EXPECT_EQ(fetch(0, Y), kMemory);
    EXPECT_EQ(where(Y), "I");
}

TEST_F(Exclusive, TheVictimOfTheL1MovesToTheL2WithItsState) {
    store(0, X);
    load(0, Y);
    EXPECT_EQ(where(X), "2");
    EXPECT_EQ(where(Y), "D");
    EXPECT_EQ(state(0), "MM");
    EXPECT_EQ(sum(Stat::l2_evictions), 0U);
}

TEST_F(Exclusive, AnL2HitMovesTheBlockToTheL1) {
    load(0, X);
    load(0, Y);
    EXPECT_EQ(load(0, X), kL2Hit);
    EXPECT_EQ(where(X), "D");
    EXPECT_EQ(where(Y), "2");
    EXPECT_EQ(sum(Stat::l1_misses), 3U);
    EXPECT_EQ(sum(Stat::l2_misses), 2U);
    EXPECT_EQ(load(0, X), 0U);
}

TEST_F(Exclusive, AFetchTakesTheLineOutOfTheDataL1) {
    store(0, X);
    EXPECT_EQ(fetch(0, X), kL2Hit);
    EXPECT_EQ(where(X), "I");
    EXPECT_EQ(state(0), "MM");
    EXPECT_EQ(sum(Stat::l2_misses), 1U);
}

TEST_F(Exclusive, AStoreTakesTheLineOutOfTheInstructionL1) {
    fetch(0, X);
    EXPECT_EQ(store(0, X), kL2Hit);
    EXPECT_EQ(where(X), "D");
    EXPECT_EQ(state(0), "MM");
    EXPECT_EQ(sum(Stat::e_to_m), 1U);
    EXPECT_EQ(store(0, X), 0U);
}

TEST_F(Exclusive, TheVictimOfTheL1MayPushOutTheLineThatIsAskedFor) {
    load(0, X);
    load(0, X2);
    load(0, X3);  // L2: X, X2 (the newer)
    ASSERT_EQ(where(X) + where(X2) + where(X3), "22D");
    EXPECT_EQ(load(0, X), kMemory);  // X3 goes to the L2 first, and X is the oldest there
    EXPECT_EQ(where(X) + where(X2) + where(X3), "D22");
    EXPECT_EQ(sum(Stat::l2_evictions), 1U);
    EXPECT_EQ(sum(Stat::l2_misses), 4U);
}

TEST_F(Exclusive, AMoveToTheL2MakesTheBlockTheNewest) {
    load(0, X);
    load(0, X2);
    load(0, X3);  // L2: X, X2
    load(0, X2);  // X3 pushes X out; L2: X3
    load(0, X4);  // L2: X3, X2 (the newer)
    load(0, Y);   // X4 pushes the oldest out
    EXPECT_EQ(where(X3), "");
    EXPECT_EQ(where(X2) + where(X4), "22");
}

TEST_F(Exclusive, TheLineInTheWrongL1MovesBeforeTheVictim) {
    load(0, X3);
    load(0, X4);   // L2: X3
    load(0, X);    // L2: X3, X4
    fetch(0, X2);  // L1D: X, L1I: X2
    EXPECT_EQ(fetch(0, X), kL2Hit);
    // X pushed X3 out of the L2, then X2 pushed X4 out, then X left it.
    EXPECT_EQ(where(X) + where(X2), "I2");
    EXPECT_EQ(where(X3) + where(X4), "");
    EXPECT_EQ(sum(Stat::l2_evictions), 2U);
}

TEST_F(Exclusive, AStoreToEInTheL1IsSeenByTheController) {
    load(0, X);
    EXPECT_EQ(store(0, X), kL2Hit);
    EXPECT_EQ(sum(Stat::l1_misses), 1U);
    EXPECT_EQ(sum(Stat::l2_accesses), 2U);
    EXPECT_EQ(sum(Stat::stores_found_e), 1U);
}

TEST_F(Exclusive, ABlockThatEnteredInEKeepsItsFateAsItMoves) {
    load(0, X);
    load(0, Y);
    load(0, X);
    EXPECT_EQ(sum(Stat::e_resident), 2U);
    store(0, X);
    EXPECT_EQ(sum(Stat::e_to_m), 1U);
    EXPECT_EQ(sum(Stat::e_resident), 1U);
    load(1, Y);
    EXPECT_EQ(sum(Stat::e_downgraded), 1U);
    EXPECT_EQ(state(0, Y), "OC");
    EXPECT_EQ(sum(Stat::e_resident), 0U);
}

TEST_F(Exclusive, ARemoteStoreFindsTheBlockInEachCache) {
    load(0, X);
    store(1, X);
    EXPECT_EQ(where(X), "");
    fetch(0, X2);
    store(1, X2);
    EXPECT_EQ(where(X2), "");
    load(0, X3);
    load(0, Y);
    ASSERT_EQ(where(X3), "2");
    store(1, X3);
    EXPECT_EQ(where(X3), "");
    EXPECT_EQ(sum(Stat::l2_invalidations), 3U);
    EXPECT_EQ(source(1, Kind::store, Source::E), 3U);
}

TEST_F(Exclusive, AReadOfMMTakesTheBlockAndLeavesNothing) {
    store(0, X);
    EXPECT_EQ(load(1, X), kCacheToCache);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(state(1), "D");
    EXPECT_EQ(h.stats().fill(1, ProcessClass::session, Kind::load, StateClass::M), 1U);
    EXPECT_EQ(store(1, X), kL2Hit);  // asks nobody
    EXPECT_EQ(sum(Stat::upgrades), 0U);
    EXPECT_EQ(state(1), "MM");
}

TEST_F(Exclusive, AStoreToASharedLineGetsTheOwnersDataAgain) {
    store(0, X);
    load(1, X);
    load(2, X);
    ASSERT_EQ(state(1) + state(2), "OS");
    const auto before = sum(Stat::interventions);
    EXPECT_EQ(store(2, X), kUpgrade);
    EXPECT_EQ(sum(Stat::upgrades), 1U);
    EXPECT_EQ(sum(Stat::interventions), before + 1);
    EXPECT_EQ(state(1) + state(2), "IMM");
}

TEST_F(Exclusive, MemoryRemembersSharingUntilTheNextStore) {
    store(0, X);
    load(1, X);
    load(2, X);
    for (const Line line : {X2, X3, X4}) {
        load(1, line);  // the owner's block goes to the L2 and out of it
    }
    ASSERT_EQ(state(1), "I");
    EXPECT_EQ(sum(Stat::l2_writebacks), 1U);
    for (const Line line : {X2, X3, X4}) {
        load(2, line);  // the last copy goes, and memory does not notice
    }
    ASSERT_EQ(state(2), "I");
    EXPECT_EQ(load(0, X), kMemory);
    EXPECT_EQ(state(0), "S");
    store(0, X);
    load(1, X);
    EXPECT_EQ(state(1), "D");
}

TEST_F(Exclusive, AnEvictedExclusiveBlockIsNotRemembered) {
    load(0, X);
    for (const Line line : {X2, X3, X4}) {
        load(0, line);
    }
    ASSERT_EQ(state(0), "I");
    load(1, X);
    EXPECT_EQ(state(1), "E");
}

TEST(Remembering, NeedsABitBesideTheCores) {
    Machine machine = exclusive_machine();
    machine.processors = 31;
    EXPECT_NO_THROW(Hierarchy(machine, shipped("hammer"), 16));
    machine.processors = 32;
    EXPECT_THROW(Hierarchy(machine, shipped("hammer"), 16), Error);
    EXPECT_NO_THROW(Hierarchy(machine, shipped("moesi"), 16));
}

class ExclusivePolicies : public ::testing::TestWithParam<Policy> {};

TEST_P(ExclusivePolicies, NoLineIsHeldTwiceAndTheIdentitiesClose) {
    constexpr Line kLines = 24;
    Hierarchy h(exclusive_machine(GetParam()), shipped("hammer"), kLines);
    const Context user{Privilege::user, ProcessClass::session};
    std::uint64_t random = 1;
    for (int i = 0; i < 50'000; ++i) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const auto line = static_cast<Line>((random >> 8) % kLines);
        const auto core = static_cast<unsigned>(random % 3);
        h.access(core, line, static_cast<Kind>(random >> 40 & 3), user);
        ASSERT_LE(h.caches().in_l1(core, line, true) + h.caches().in_l1(core, line, false) +
                      h.caches().in_l2(core, line),
                  1);
    }
    const auto sum = [&](Stat s) { return h.stats().sum(s); };
    std::uint64_t resident = 0;
    std::uint64_t held = 0;
    for (unsigned core = 0; core < 3; ++core) {
        for (Line line = 0; line < kLines; ++line) {
            resident += h.protocol().state(h.caches().state(core, line)).name == "E" ? 1U : 0U;
            held += h.caches().state(core, line) != h.protocol().invalid() ? 1U : 0U;
        }
    }
    EXPECT_EQ(sum(Stat::e_resident), resident);
    EXPECT_EQ(sum(Stat::l2_misses) - sum(Stat::l2_evictions) - sum(Stat::l2_invalidations), held);
    EXPECT_EQ(sum(Stat::fills), sum(Stat::l2_misses));
    EXPECT_EQ(sum(Stat::miss_source), sum(Stat::l2_misses));
    EXPECT_EQ(sum(Stat::stores_found_e), sum(Stat::e_to_m));
    EXPECT_GT(sum(Stat::e_to_m), 100U);
    EXPECT_GT(held, 3U * 4U);  // more than the L2s alone can hold
}

INSTANTIATE_TEST_SUITE_P(Each, ExclusivePolicies,
                         ::testing::Values(Policy::lru, Policy::plru, Policy::random));

}  // namespace s80::model
