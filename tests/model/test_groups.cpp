// SPDX-License-Identifier: GPL-2.0-or-later
// Group caches: moves between an L2 and the cache of its group, sources of misses, and the state file.
#include <gtest/gtest.h>

#include <vector>

#include "checkpoint/state_file.h"
#include "small_machine.h"
#include "temporary_file.h"
#include "timing/merger.h"

namespace s80::model {

namespace {

constexpr unsigned kGroup = 30;

/// Four cores in two groups. The group caches, agents 4 and 5, have 2 sets x 2 ways, and the L2s 2 sets x 1
/// way.
Machine four_cores() {
    Machine m = small_machine();
    m.processors = 4;
    m.l2 = {256, 1};
    m.group = Group{2, {512, 2}};
    m.latency.group = kGroup;
    m.check("the test's machine");
    return m;
}

class GroupCaches : public SmallMachine {
protected:
    explicit GroupCaches(const Protocol& protocol = moesi()) : SmallMachine(four_cores(), protocol) {}

    std::uint64_t blocks(GroupEvent event) { return h.stats().group_block(event, ProcessClass::session); }
};

}  // namespace

TEST_F(GroupCaches, AreAgentsAfterTheCores) {
    const Machine m = four_cores();
    EXPECT_EQ(m.agents(), 6U);
    EXPECT_EQ(m.group_cache(1), 4U);
    EXPECT_EQ(m.group_cache(2), 5U);
    EXPECT_EQ(m.cores_of(5), CoreSet::only(2) | CoreSet::only(3));
    EXPECT_EQ(m.cores_of(1), CoreSet::only(1));
    EXPECT_EQ(m.private_lines(), 4U * 2 + 2 * 4);
}

TEST_F(GroupCaches, TakeWhatAnL2EvictsWithItsState) {
    store(0, X);
    load(0, X2);
    EXPECT_EQ(state(0), "I");
    EXPECT_EQ(state(4), "M");
    EXPECT_EQ(blocks(GroupEvent::fill), 1U);
    EXPECT_EQ(blocks(GroupEvent::writeback), 0U);
}

TEST_F(GroupCaches, GiveTheBlockToEachCoreOfTheGroup) {
    store(0, X);
    load(0, X2);
    EXPECT_EQ(load(1, X), kGroup);
    EXPECT_EQ(state(1), "M");
    EXPECT_EQ(state(4), "I");
    EXPECT_EQ(source(1, Kind::load, Source::group), 1U);
    EXPECT_EQ(blocks(GroupEvent::hit), 1U);
    EXPECT_EQ(h.stats().stall(1, user, Kind::load, Service::group), kGroup);
}

TEST_F(GroupCaches, GiveACopyAndTheHomeThePermissionToStore) {
    load(0, X);
    load(2, X);
    load(0, X2);
    ASSERT_EQ(state(4), "S");
    EXPECT_EQ(store(0, X), kGroup + kUpgrade);
    EXPECT_EQ(state(0), "M");
    EXPECT_EQ(state(2), "I");
    EXPECT_EQ(sum(Stat::upgrades), 1U);
    EXPECT_EQ(h.stats().stall(0, user, Kind::store, Service::group), kGroup + kUpgrade);
    EXPECT_EQ(h.stats().fill(0, ProcessClass::session, Kind::store, StateClass::S), 1U);
}

TEST_F(GroupCaches, StoreToABlockThatWasInEIsSilent) {
    load(0, X);
    load(0, X2);
    ASSERT_EQ(state(4), "E");
    EXPECT_EQ(store(1, X), kGroup);
    EXPECT_EQ(sum(Stat::stores_found_e), 1U);
    EXPECT_EQ(sum(Stat::e_to_m), 1U);
    EXPECT_EQ(sum(Stat::upgrades), 0U);
}

TEST_F(GroupCaches, SupplyOtherGroups) {
    store(0, X);
    load(0, X2);
    EXPECT_EQ(load(2, X), kCacheToCache);
    EXPECT_EQ(state(4), "O");
    EXPECT_EQ(state(2), "S");
    EXPECT_EQ(source(2, Kind::load, Source::M), 1U);
    EXPECT_EQ(blocks(GroupEvent::supply), 1U);
    EXPECT_EQ(sum(Stat::interventions), 0U);
    EXPECT_EQ(store(3, X), kCacheToCache);
    EXPECT_EQ(state(4), "I");
    EXPECT_EQ(blocks(GroupEvent::invalidation), 1U);
}

TEST_F(GroupCaches, EvictAndWriteBackWhenTheyAreFull) {
    store(0, X);
    for (const Line line : {X2, X3, X3 + 2}) {
        load(0, line);
    }
    EXPECT_EQ(state(4, X), "I");
    EXPECT_EQ(state(4, X2), "E");
    EXPECT_EQ(blocks(GroupEvent::eviction), 1U);
    EXPECT_EQ(blocks(GroupEvent::writeback), 1U);
    EXPECT_EQ(load(1, X), kMemory);
}

TEST_F(GroupCaches, OfTwoCopiesTheStrongerStays) {
    store(0, X);
    load(1, X);
    load(1, X2);  // the copy in S goes to the group cache
    ASSERT_EQ(state(0), "O");
    ASSERT_EQ(state(4), "S");
    load(0, X3);  // the owner follows
    EXPECT_EQ(state(4), "O");
    EXPECT_EQ(blocks(GroupEvent::eviction), 1U);
    EXPECT_EQ(blocks(GroupEvent::fill), 2U);
    load(2, X);
    load(3, X);
    load(2, X2);
    load(3, X2);  // the group cache has a copy in S already
    EXPECT_EQ(state(5), "S");
    EXPECT_EQ(blocks(GroupEvent::fill), 3U);
    EXPECT_EQ(blocks(GroupEvent::eviction), 1U);
    EXPECT_EQ(sum(Stat::l2_evictions), 4U);
}

TEST_F(GroupCaches, DeviceFindsTheirCopies) {
    store(0, X);
    load(0, X2);
    h.device_read(X);
    EXPECT_EQ(state(4), "S");
    EXPECT_EQ(blocks(GroupEvent::writeback), 1U);
    h.device_write(X);
    EXPECT_EQ(state(4), "I");
    EXPECT_EQ(blocks(GroupEvent::invalidation), 1U);
}

TEST(GroupCacheDirectory, RecallsTheirCopiesAndCountsTheMissAfterIt) {
    Machine m = four_cores();
    m.directory = {{m.line_bytes, 1}};
    m.check("the test's machine");
    Hierarchy h(m, shipped("moesi-victim"), 1024);
    const Context who(Privilege::user, ProcessClass::session);
    const auto access = [&](unsigned core, Line line) { return h.access(core, line, Kind::store, who); };
    access(0, 4);
    access(0, 6);  // the entry is of line 6 now; line 4 was recalled from the L2
    EXPECT_EQ(h.stats().sum(Stat::recalled_copies), 1U);
    EXPECT_TRUE(access(0, 4).after_recall);
    m.directory = {{2 * m.line_bytes, 2}};
    Hierarchy two(m, shipped("moesi-victim"), 1024);
    two.access(0, 4, Kind::store, who);
    two.access(0, 6, Kind::store, who);  // line 4 moves to the group cache
    two.access(2, 9, Kind::store, who);  // the entry of line 4 is needed
    EXPECT_EQ(two.stats().group_block(GroupEvent::recall, ProcessClass::session), 1U);
    EXPECT_EQ(two.stats().sum(Stat::recalled_copies), 0U);
    EXPECT_TRUE(two.access(1, 4, Kind::load, who).after_recall);
    EXPECT_FALSE(two.access(0, 4, Kind::load, who).after_recall);
}

TEST_F(GroupCaches, ComeBackFromAStateFile) {
    store(0, X);
    for (const Line line : {X2, X3}) {
        load(0, line);
    }
    const test::TemporaryFile file("");
    TimingMerger merger(h);
    save_state(file.path(), h, merger, {});
    Hierarchy again(four_cores(), moesi(), 1024);
    TimingMerger player(again);
    load_state(file.path(), again, player);
    EXPECT_EQ(again.stats().all(), h.stats().all());
    for (Hierarchy* one : {&h, &again}) {
        EXPECT_EQ(one->access(0, X3 + 2, Kind::load, user).stall, kMemory);  // X leaves, the oldest
        EXPECT_EQ(one->access(1, X, Kind::load, user).stall, kMemory);
        EXPECT_EQ(one->access(1, X2, Kind::load, user).stall, kGroup);
    }
    EXPECT_EQ(again.stats().all(), h.stats().all());
    EXPECT_EQ(again.state(), h.state());
    Machine other = four_cores();
    other.group->cores = 4;
    Hierarchy wider(other, moesi(), 1024);
    TimingMerger third(wider);
    EXPECT_THROW(load_state(file.path(), wider, third), Error);
}

}  // namespace s80::model
