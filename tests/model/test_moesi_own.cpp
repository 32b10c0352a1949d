// SPDX-License-Identifier: GPL-2.0-or-later
// One test a cell of [own.*] of configs/protocols/moesi.toml: state, cost and counts.
#include "small_machine.h"

namespace s80::model {

using MoesiOwn = SmallMachine;

// --- load ---
TEST_F(MoesiOwn, LoadInMHitsAndStaysM) {
    given('M');
    EXPECT_EQ(load(0, X), kL2Hit);
    EXPECT_EQ(state(0), "M");
    EXPECT_EQ(sum(Stat::l2_misses), 0U);
    EXPECT_EQ(sum(Stat::l2_accesses), 1U);
}
TEST_F(MoesiOwn, LoadInOHitsAndStaysO) {
    given('O');
    EXPECT_EQ(load(0, X), kL2Hit);
    EXPECT_EQ(state(0), "O");
    EXPECT_EQ(state(1), "S");
    EXPECT_EQ(sum(Stat::upgrades), 0U);
}
TEST_F(MoesiOwn, LoadInEHitsAndStaysE) {
    given('E');
    EXPECT_EQ(load(0, X), kL2Hit);
    EXPECT_EQ(state(0), "E");
    EXPECT_EQ(sum(Stat::stores_found_e), 0U);
}
TEST_F(MoesiOwn, LoadInSHitsAndStaysS) {
    given('S');
    EXPECT_EQ(load(0, X), kL2Hit);
    EXPECT_EQ(state(0), "S");
    EXPECT_EQ(sum(Stat::interventions), 0U);
}
TEST_F(MoesiOwn, LoadInIAloneFillsEFromMemory) {
    given('I');
    EXPECT_EQ(load(0, X), kMemory);
    EXPECT_EQ(state(0), "E");
    EXPECT_EQ(source(0, Kind::load, Source::memory), 1U);
    EXPECT_EQ(h.stats().fill(0, ProcessClass::session, Kind::load, StateClass::E), 1U);
    EXPECT_EQ(h.stats().process_class(Stat::e_resident, 0, ProcessClass::session), 1U);
}
TEST_F(MoesiOwn, LoadInISharedFillsS) {
    given('I');
    load(1, X);
    EXPECT_EQ(load(0, X), kCacheToCache);
    EXPECT_EQ(state(0), "S");
    EXPECT_EQ(source(0, Kind::load, Source::E), 1U);
    EXPECT_EQ(h.stats().fill(0, ProcessClass::session, Kind::load, StateClass::S), 1U);
}

// --- fetch ---
TEST_F(MoesiOwn, FetchInMHitsAndStaysM) {
    given('M');
    EXPECT_EQ(fetch(0, X), kL2Hit);
    EXPECT_EQ(state(0), "M");
}
TEST_F(MoesiOwn, FetchInOHitsAndStaysO) {
    given('O');
    EXPECT_EQ(fetch(0, X), kL2Hit);
    EXPECT_EQ(state(0), "O");
}
TEST_F(MoesiOwn, FetchInEHitsAndStaysE) {
    given('E');
    EXPECT_EQ(fetch(0, X), kL2Hit);
    EXPECT_EQ(state(0), "E");
}
TEST_F(MoesiOwn, FetchInSHitsAndStaysS) {
    given('S');
    EXPECT_EQ(fetch(0, X), kL2Hit);
    EXPECT_EQ(state(0), "S");
}
TEST_F(MoesiOwn, FetchInIAloneFillsE) {
    given('I');
    EXPECT_EQ(fetch(0, X), kMemory);
    EXPECT_EQ(state(0), "E");
    EXPECT_EQ(source(0, Kind::ifetch, Source::memory), 1U);
    EXPECT_EQ(h.stats().fill(0, ProcessClass::session, Kind::ifetch, StateClass::E), 1U);
}
TEST_F(MoesiOwn, FetchMeetsDataOfAnotherCoreAtOneAddress) {
    given('I');
    store(1, X);
    EXPECT_EQ(fetch(0, X), kCacheToCache);
    EXPECT_EQ(state(0), "S");
    EXPECT_EQ(source(0, Kind::ifetch, Source::M), 1U);
}

// --- store ---
TEST_F(MoesiOwn, StoreInMHitsWithoutTheBus) {
    given('M');
    EXPECT_EQ(store(0, X), kL2Hit);
    EXPECT_EQ(state(0), "M");
    EXPECT_EQ(sum(Stat::upgrades), 0U);
    EXPECT_EQ(sum(Stat::stores_found_e), 0U);
}
TEST_F(MoesiOwn, StoreInOUpgradesAndInvalidatesTheSharers) {
    given('O');
    EXPECT_EQ(store(0, X), kUpgrade);
    EXPECT_EQ(state(0), "M");
    EXPECT_EQ(state(1), "I");
    EXPECT_EQ(sum(Stat::upgrades), 1U);
    EXPECT_EQ(h.stats().core(Stat::l2_invalidations, 1), 1U);
    EXPECT_EQ(sum(Stat::l2_misses), 0U);
}
TEST_F(MoesiOwn, StoreInEGoesToMSilently) {
    given('E');
    h.stats().process_class(Stat::e_resident, 0, ProcessClass::session) =
        1;  // `given` cleared the counters, the gauge too
    EXPECT_EQ(store(0, X), kL2Hit);
    EXPECT_EQ(state(0), "M");
    EXPECT_EQ(sum(Stat::upgrades), 0U);
    EXPECT_EQ(sum(Stat::stores_found_e), 1U);
    EXPECT_EQ(h.stats().process_class(Stat::e_to_m, 0, ProcessClass::session), 1U);
    EXPECT_EQ(h.stats().process_class(Stat::e_resident, 0, ProcessClass::session), 0U);
}
TEST_F(MoesiOwn, StoreInSUpgrades) {
    given('S');
    EXPECT_EQ(store(0, X), kUpgrade);
    EXPECT_EQ(state(0), "M");
    EXPECT_EQ(state(1), "I");
    EXPECT_EQ(sum(Stat::upgrades), 1U);
    EXPECT_EQ(sum(Stat::e_to_m), 0U);
}
TEST_F(MoesiOwn, StoreInIFillsM) {
    given('I');
    EXPECT_EQ(store(0, X), kMemory);
    EXPECT_EQ(state(0), "M");
    EXPECT_EQ(source(0, Kind::store, Source::memory), 1U);
    EXPECT_EQ(h.stats().fill(0, ProcessClass::session, Kind::store, StateClass::M), 1U);
}

// --- evict: X2 and X3 fill X's set of two ways ---
TEST_F(MoesiOwn, EvictMWritesBack) {
    given('M');
    load(0, X2);
    load(0, X3);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(h.stats().core(Stat::l2_evictions, 0), 1U);
    EXPECT_EQ(h.stats().core(Stat::l2_writebacks, 0), 1U);
}
TEST_F(MoesiOwn, EvictOWritesBackAndLeavesTheSharers) {
    given('O');
    load(0, X2);
    load(0, X3);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(state(1), "S");
    EXPECT_EQ(h.stats().core(Stat::l2_writebacks, 0), 1U);
}
TEST_F(MoesiOwn, EvictEIsSilentAndCountedAsItsFate) {
    given('E');
    load(0, X2);
    load(0, X3);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(sum(Stat::l2_writebacks), 0U);
    EXPECT_EQ(h.stats().process_class(Stat::e_evicted, 0, ProcessClass::session), 1U);
}
TEST_F(MoesiOwn, EvictSIsSilent) {
    given('S');
    load(0, X2);
    load(0, X3);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(sum(Stat::l2_writebacks), 0U);
    EXPECT_EQ(sum(Stat::e_evicted), 0U);
}
TEST_F(MoesiOwn, EvictIIsImpossible) {
    EXPECT_FALSE(h.protocol().own(OwnEvent::evict, h.protocol().find("I")).possible);
    load(0, X);  // fills an empty way: nothing is evicted
    EXPECT_EQ(sum(Stat::l2_evictions), 0U);
}

}  // namespace s80::model
