// SPDX-License-Identifier: GPL-2.0-or-later
// One test a cell of [remote.*] of configs/protocols/moesi.toml: core 0 snoops a request of core 2.
#include "small_machine.h"

namespace s80::model {

using MoesiRemote = SmallMachine;

// --- read ---
TEST_F(MoesiRemote, ReadOfMLeavesOAndSupplies) {
    given('M');
    EXPECT_EQ(load(2, X), kCacheToCache);
    EXPECT_EQ(state(0), "O");
    EXPECT_EQ(state(2), "S");
    EXPECT_EQ(source(2, Kind::load, Source::M), 1U);
    EXPECT_EQ(h.stats().core(Stat::interventions, 0), 1U);
    EXPECT_EQ(sum(Stat::l2_writebacks), 0U);  // memory stays stale: that is what O is for
}
TEST_F(MoesiRemote, ReadOfOIsSuppliedByTheOwnerNotByASharer) {
    given('O');  // core 1 holds it in S
    EXPECT_EQ(load(2, X), kCacheToCache);
    EXPECT_EQ(state(0), "O");
    EXPECT_EQ(source(2, Kind::load, Source::O), 1U);
    EXPECT_EQ(source(2, Kind::load, Source::S), 0U);
    EXPECT_EQ(h.stats().core(Stat::interventions, 0), 1U);
}
TEST_F(MoesiRemote, ReadOfELeavesSAndSettlesItsFate) {
    given('E');
    EXPECT_EQ(load(2, X), kCacheToCache);
    EXPECT_EQ(state(0), "S");
    EXPECT_EQ(state(2), "S");
    EXPECT_EQ(source(2, Kind::load, Source::E), 1U);
    EXPECT_EQ(h.stats().process_class(Stat::e_downgraded, 0, ProcessClass::session), 1U);
    store(0, X);  // too late: this is an upgrade, not E to M
    EXPECT_EQ(h.stats().process_class(Stat::e_to_m, 0, ProcessClass::session), 0U);
    EXPECT_EQ(sum(Stat::upgrades), 1U);
}
TEST_F(MoesiRemote, ReadOfSIsSuppliedByTheLowestSharer) {
    given('S');  // cores 0 and 1
    EXPECT_EQ(load(2, X), kCacheToCache);
    EXPECT_EQ(source(2, Kind::load, Source::S), 1U);
    EXPECT_EQ(h.stats().core(Stat::interventions, 0), 1U);
    EXPECT_EQ(h.stats().core(Stat::interventions, 1), 0U);
}
TEST_F(MoesiRemote, ReadOfIIsNotAnswered) {
    given('I');
    EXPECT_EQ(load(2, X), kMemory);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(sum(Stat::interventions), 0U);
}

// --- rfo ---
TEST_F(MoesiRemote, RfoOfMInvalidatesAndSupplies) {
    given('M');
    EXPECT_EQ(store(2, X), kCacheToCache);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(state(2), "M");
    EXPECT_EQ(source(2, Kind::store, Source::M), 1U);
    EXPECT_EQ(h.stats().core(Stat::l2_invalidations, 0), 1U);
}
TEST_F(MoesiRemote, RfoOfOInvalidatesOwnerAndSharers) {
    given('O');
    EXPECT_EQ(store(2, X), kCacheToCache);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(state(1), "I");
    EXPECT_EQ(state(2), "M");
    EXPECT_EQ(source(2, Kind::store, Source::O), 1U);
    EXPECT_EQ(sum(Stat::l2_invalidations), 2U);
    EXPECT_EQ(h.stats().group(Stat::invalidations_sent, 2, Context{}), 2U) << "of the core that stores";
    EXPECT_EQ(sum(Stat::invalidations_sent), 2U);
}
TEST_F(MoesiRemote, RfoOfEInvalidatesAndSettlesItsFate) {
    given('E');
    EXPECT_EQ(store(2, X), kCacheToCache);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(source(2, Kind::store, Source::E), 1U);
    EXPECT_EQ(h.stats().process_class(Stat::e_invalidated, 0, ProcessClass::session), 1U);
}
TEST_F(MoesiRemote, RfoOfSInvalidatesAll) {
    given('S');
    EXPECT_EQ(store(2, X), kCacheToCache);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(state(1), "I");
    EXPECT_EQ(source(2, Kind::store, Source::S), 1U);
}
TEST_F(MoesiRemote, RfoOfIIsNotAnswered) {
    given('I');
    EXPECT_EQ(store(2, X), kMemory);
    EXPECT_EQ(sum(Stat::l2_invalidations), 0U);
}

// --- upgrade: core 2 holds a copy and stores ---
TEST_F(MoesiRemote, UpgradeMeetsNoM) {
    EXPECT_FALSE(h.protocol().remote(Bus::upgrade, h.protocol().find("M")).possible);
    given('M');
    load(2, X);  // the copy that an upgrade needs has made M an O
    EXPECT_EQ(state(0), "O");
}
TEST_F(MoesiRemote, UpgradeInvalidatesTheOwnerWithoutWriteback) {
    given('O');
    EXPECT_EQ(store(1, X), kUpgrade);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(state(1), "M");
    EXPECT_EQ(sum(Stat::l2_writebacks), 0U);  // the new M is answerable for the data
    EXPECT_EQ(sum(Stat::interventions), 0U);
}
TEST_F(MoesiRemote, UpgradeMeetsNoE) {
    EXPECT_FALSE(h.protocol().remote(Bus::upgrade, h.protocol().find("E")).possible);
    given('E');
    load(2, X);
    EXPECT_EQ(state(0), "S");
}
TEST_F(MoesiRemote, UpgradeInvalidatesS) {
    given('S');
    EXPECT_EQ(store(1, X), kUpgrade);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(h.stats().core(Stat::l2_invalidations, 0), 1U);
    EXPECT_EQ(sum(Stat::upgrades), 1U);
}
TEST_F(MoesiRemote, UpgradeLeavesIAlone) {
    given('I');
    load(1, X);
    load(2, X);
    store(1, X);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(h.stats().core(Stat::l2_invalidations, 0), 0U);
    EXPECT_EQ(h.stats().core(Stat::l2_invalidations, 2), 1U);
}

}  // namespace s80::model
