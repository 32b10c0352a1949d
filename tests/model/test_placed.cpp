// SPDX-License-Identifier: GPL-2.0-or-later
// Placed accesses: the way of the L1 is given, not searched for.
#include <string_view>
#include <tuple>

#include "random_epochs.h"
#include "small_machine.h"
#include "timing/merger.h"

namespace s80::model {

namespace {

Machine two_way(std::string_view inclusion) {
    Machine m = small_machine();
    m.l1i = m.l1d = {512, 2};  // 2 sets
    m.l2 = {2048, 2};
    m.l2_inclusion = inclusion;
    return m;
}

}  // namespace

class Placed : public SmallMachine {
protected:
    explicit Placed(std::string_view inclusion = "inclusive")
        : SmallMachine(two_way(inclusion), shipped(inclusion == "inclusive" ? "moesi" : "hammer")) {}

    unsigned placed(Line line, Kind kind, unsigned way) {
        return h.access_placed(0, line, kind, user, way).stall;
    }
    /// The way of core 0's data L1 that holds the line; 2: none.
    unsigned way(Line line) {
        const Cache::Slot slot = h.caches().core(0).l1d.find(line);
        return slot ? slot.way : 2;
    }
};

class PlacedExclusive : public Placed {
protected:
    PlacedExclusive() : Placed("exclusive") {}
};

TEST_F(Placed, FillsTheWayThatItNames) {
    EXPECT_EQ(placed(X, Kind::load, 1), kMemory);
    EXPECT_EQ(way(X), 1U);
    EXPECT_EQ(placed(X2, Kind::load, 1), kMemory);
    EXPECT_EQ(way(X), 2U);
    EXPECT_EQ(way(X2), 1U);
}

TEST_F(Placed, ALineInItsWayIsAHit) {
    placed(X, Kind::load, 1);
    EXPECT_EQ(placed(X, Kind::load, 1), 0U);
    EXPECT_EQ(placed(X, Kind::store, 1), kL2Hit);  // E to M
    EXPECT_EQ(placed(X, Kind::store, 1), 0U);
    EXPECT_EQ(sum(Stat::l1_misses), 1U);
    EXPECT_EQ(sum(Stat::l2_accesses), 2U);
}

TEST_F(Placed, ALineInAnotherWayMovesThere) {
    placed(X, Kind::load, 0);
    EXPECT_EQ(placed(X, Kind::load, 1), kL2Hit);
    EXPECT_EQ(way(X), 1U);
    EXPECT_EQ(sum(Stat::l1_misses), 2U);
    placed(X2, Kind::load, 1);
    EXPECT_EQ(way(X), 2U);  // no copy stayed behind
}

TEST_F(PlacedExclusive, TheBlockInTheWayMovesToTheL2) {
    placed(X, Kind::load, 1);
    placed(X2, Kind::load, 1);
    EXPECT_TRUE(h.caches().in_l2(0, X));
    EXPECT_EQ(way(X2), 1U);
    EXPECT_EQ(placed(X, Kind::load, 0), kL2Hit);
    EXPECT_FALSE(h.caches().in_l2(0, X));
    EXPECT_EQ(way(X), 0U);
}

TEST_F(PlacedExclusive, ALineInAnotherWayMovesThere) {
    placed(X, Kind::load, 0);
    placed(X2, Kind::load, 1);
    EXPECT_EQ(placed(X, Kind::load, 1), kL2Hit);
    EXPECT_EQ(way(X), 1U);
    EXPECT_EQ(way(X2), 2U);
    EXPECT_TRUE(h.caches().in_l2(0, X2));
    EXPECT_FALSE(h.caches().in_l2(0, X));
}

TEST_F(Placed, AWayThatTheL1LacksIsRefused) {
    TimingMerger merger(h);
    Epoch epoch(3);
    epoch.placed = true;
    epoch.streams[0].events.push_back(Event{X, 1, 0, Op::load, 2, user});
    epoch.streams[0].size = 1;
    epoch.streams[0].ran = true;
    EXPECT_THROW(merger.play(epoch), Error);
}

/// With the ways that a searched L1 uses, the placed merger counts what the searching one does.
class PlacedAsSearched : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(PlacedAsSearched, CountsTheSame) {
    const auto [inclusion, protocol] = GetParam();
    Machine machine = two_way(inclusion);
    machine.l1i = machine.l1d = {std::uint64_t{128} * 64, 2};
    machine.l2 = {std::uint64_t{128} * 512, 4};
    Hierarchy searched(machine, shipped(protocol), test::kRandomLines);
    Hierarchy placed(machine, shipped(protocol), test::kRandomLines);
    test::RandomEpochs epochs(machine.processors, 7);
    for (int i = 0; i < 20; ++i) {
        const Epoch epoch = epochs.next(500);
        for (unsigned core = 0; core < 3; ++core) {
            for (const Event& event : epoch.streams[core].events) {
                if (event.op > Op::walk) {
                    continue;
                }
                const auto kind = static_cast<Kind>(event.op);
                const unsigned stall = searched.access(core, event.line, kind, event.context).stall;
                const Cache::Slot slot = searched.caches().core(core).l1(kind).find(event.line);
                ASSERT_TRUE(slot);
                ASSERT_EQ(placed.access_placed(core, event.line, kind, event.context, slot.way).stall, stall);
            }
        }
    }
    EXPECT_EQ(placed.stats().all(), searched.stats().all());
    EXPECT_GT(searched.stats().sum(Stat::l2_evictions), 100U);
}

INSTANTIATE_TEST_SUITE_P(Each, PlacedAsSearched,
                         ::testing::Combine(::testing::Values("inclusive", "exclusive"),
                                            ::testing::Values("moesi", "mesif", "hammer")));

}  // namespace s80::model
