// SPDX-License-Identifier: GPL-2.0-or-later
// Why and with whom a core missed, on hand-made streams: one access a epoch.
#include "observe/attribution.h"

#include "random_epochs.h"
#include "small_machine.h"

namespace s80::model {

class AttributionTest : public SmallMachine {
protected:
    explicit AttributionTest(const Machine& machine = small_machine())
        : SmallMachine(machine),
          merger(h),
          attribution(h, merger, [this](const Miss& miss) { log.push_back(miss); }) {
        merger.observe(attribution);
    }

    void mark(Mark mark) {
        Epoch epoch(h.machine().processors);
        epoch.mark = mark;
        merger.play(epoch);
    }
    /// `granule`: which word of the line.
    void access(unsigned core, Line line, Kind kind, unsigned granule = 0) {
        Epoch epoch(h.machine().processors);
        Stream& s = epoch.streams[core];
        const auto bit = static_cast<std::uint16_t>(1U << granule);
        s.events = {Event{line, 1, 0, static_cast<Op>(kind), 0, user}};
        s.notes = {Note{0x1000 + line, 0x7000, 42, kind == Kind::store ? std::uint16_t{0} : bit,
                        kind == Kind::store ? bit : std::uint16_t{0}, 8}};
        s.size = 1;
        s.ran = s.runs_on = true;
        merger.play(epoch);
    }
    void load(unsigned core, Line line, unsigned granule = 0) { access(core, line, Kind::load, granule); }
    void store(unsigned core, Line line, unsigned granule = 0) { access(core, line, Kind::store, granule); }

    std::vector<Miss> log;
    TimingMerger merger;
    Attribution attribution;
};

TEST_F(AttributionTest, LogsTheMeasuredRegionAlone) {
    load(0, X);
    mark(Mark::measure_begin);
    EXPECT_TRUE(log.empty());
    load(0, X2);
    mark(Mark::measure_end);
    load(0, X3);
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log[0].physical, std::uint64_t{X2} * 128);
}

TEST_F(AttributionTest, WriteOfADeviceTakesTheWholeLineFromItsHolders) {
    mark(Mark::measure_begin);
    Epoch epoch(3);
    Stream& s = epoch.streams[1];
    s.events = {Event::device(true, X)};
    s.notes = {Note{}};
    s.size = 1;
    s.ran = s.runs_on = true;
    load(0, X);
    merger.play(epoch);
    load(0, X, 7);
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log.back().traits.reason, Reason::coherence);
    EXPECT_EQ(log.back().traits.sharing, Sharing::true_sharing);
}

TEST_F(AttributionTest, EachRegionBeginsAnew) {
    mark(Mark::measure_begin);
    load(0, X);
    store(1, X);
    mark(Mark::measure_end);
    EXPECT_FALSE(attribution.active());
    store(2, X);
    mark(Mark::measure_begin);
    EXPECT_TRUE(attribution.active());
    load(0, X);
    ASSERT_EQ(log.size(), 3U);
    EXPECT_EQ(log.back().traits.reason, Reason::cold) << "the loss in the first region is forgotten";
    EXPECT_EQ(attribution.regions(), 2U);
}

TEST_F(AttributionTest, ARecordSaysWhoseOfWhatAndFromWhere) {
    mark(Mark::measure_begin);
    store(1, X, 3);
    load(2, X, 3);
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log[0].traits.source, Source::memory);
    EXPECT_EQ(log[0].traits.supplier, kNobody);
    EXPECT_EQ(log[0].writes, 1U << 3);
    EXPECT_EQ(log[0].stall, kMemory);
    const Miss& m = log[1];
    EXPECT_EQ(m.pc, 0x1000U + X);
    EXPECT_EQ(m.address, 0x7000U);
    EXPECT_EQ(m.who, 42U);
    EXPECT_EQ(m.traits.size, 8U);
    EXPECT_EQ(m.traits.core, 2U);
    EXPECT_EQ(m.traits.kind, Kind::load);
    EXPECT_EQ(m.traits.request, Request::miss);
    EXPECT_EQ(m.traits.source, Source::M);
    EXPECT_EQ(m.traits.supplier, 1U);
    EXPECT_EQ(m.holders, CoreSet::only(1));
    EXPECT_EQ(m.reads, 1U << 3);
    EXPECT_EQ(m.stall, kCacheToCache);
    EXPECT_EQ(m.traits.reason, Reason::cold);
    EXPECT_GT(m.time_ns, log[0].time_ns);
}

TEST_F(AttributionTest, ALockThatGoesRoundIsTrueSharing) {
    mark(Mark::measure_begin);
    for (int round = 0; round < 3; ++round) {
        for (const unsigned core : {0U, 1U}) {
            load(core, X);
            store(core, X);
        }
    }
    ASSERT_EQ(log.size(), 11U) << "a load and an upgrade each, but the first store found E";
    EXPECT_EQ(log[0].traits.reason, Reason::cold);
    EXPECT_EQ(log[1].traits.reason, Reason::cold);
    for (std::size_t i = 2; i < log.size(); ++i) {
        const bool upgrade = i % 2 == 0;
        EXPECT_EQ(log[i].traits.request, upgrade ? Request::upgrade : Request::miss);
        EXPECT_EQ(log[i].traits.reason, upgrade ? Reason::none : Reason::coherence);
        EXPECT_EQ(log[i].traits.sharing, upgrade ? Sharing::none : Sharing::true_sharing);
        EXPECT_EQ(log[i].traits.supplier, upgrade ? log[i].traits.supplier : 1U - log[i].traits.core);
    }
}

TEST_F(AttributionTest, NeighboursInALineAreFalseSharing) {
    mark(Mark::measure_begin);
    for (int round = 0; round < 3; ++round) {
        store(0, X, 0);
        store(1, X, 8);
    }
    ASSERT_EQ(log.size(), 6U);
    for (std::size_t i = 2; i < log.size(); ++i) {
        EXPECT_EQ(log[i].traits.reason, Reason::coherence);
        EXPECT_EQ(log[i].traits.sharing, Sharing::false_sharing);
        EXPECT_EQ(log[i].foreign, 1U << (log[i].traits.core == 0 ? 8 : 0));
    }
}

TEST_F(AttributionTest, WhatWasWrittenAfterTheLineWasLostCountsToo) {
    mark(Mark::measure_begin);
    load(0, X, 5);
    store(1, X, 0);
    store(1, X, 5);  // a hit of its L1
    load(0, X, 5);
    EXPECT_EQ(log.back().traits.sharing, Sharing::true_sharing);
    EXPECT_EQ(log.back().foreign, 1U << 0 | 1U << 5);
}

TEST_F(AttributionTest, AFullSetIsAConflictAFullCacheIsCapacity) {
    mark(Mark::measure_begin);
    for (const Line line : {X, X2, X3}) {  // three lines of a set of two; the cache has room for four
        load(0, line);
    }
    load(0, X);
    EXPECT_EQ(log.back().traits.reason, Reason::conflict);
    for (Line line = 20; line < 26; ++line) {
        load(1, line);
    }
    load(1, 20);
    EXPECT_EQ(log.back().traits.reason, Reason::capacity);
}

TEST_F(AttributionTest, WhatWasThereWhenTheLogBeganIsNotCold) {
    load(0, X);
    mark(Mark::measure_begin);
    load(0, X2);
    load(0, X3);
    load(0, X);
    EXPECT_EQ(log.back().traits.reason, Reason::conflict);
    EXPECT_EQ(log[0].traits.reason, Reason::cold);
}

TEST_F(AttributionTest, AnEvictedLineIsNotLostToAnother) {
    mark(Mark::measure_begin);
    for (const Line line : {X, X2, X3}) {
        load(0, line);
    }
    store(1, X);
    load(0, X);
    EXPECT_EQ(log.back().traits.reason, Reason::capacity) << "with any cache it would have missed";
    EXPECT_EQ(log.back().traits.sharing, Sharing::none);
}

/// Notes of the right number for every stream.
Epoch noted(Epoch epoch) {
    for (Stream& stream : epoch.streams) {
        stream.notes.resize(stream.events.size());
    }
    return epoch;
}

/// Two groups of two cores; an L2 has one way.
class GroupAttributionTest : public AttributionTest {
protected:
    GroupAttributionTest() : AttributionTest(of_groups()) {}
    static Machine of_groups() {
        Machine m = small_machine();
        m.processors = 4;
        m.l2 = {256, 1};
        m.group = Group{2, {512, 2}};
        m.check("the test's machine");
        return m;
    }
};

TEST_F(GroupAttributionTest, LossOfAGroupCacheIsALossOfTheCoresThatHadTheLine) {
    mark(Mark::measure_begin);
    store(1, X, 0);
    load(1, X2);  // X moves to the group cache
    load(2, X);
    EXPECT_EQ(log.back().traits.source, Source::M);
    EXPECT_EQ(log.back().traits.supplier, 0) << "the first core of the group";
    store(2, X, 1);
    load(1, X, 0);
    EXPECT_EQ(log.back().traits.reason, Reason::coherence);
    EXPECT_EQ(log.back().traits.sharing, Sharing::false_sharing);
    load(0, X);
    EXPECT_EQ(log.back().traits.reason, Reason::cold);
    load(1, X2);
    EXPECT_EQ(log.back().traits.source, Source::group);
    EXPECT_EQ(log.back().traits.supplier, kNobody);
    EXPECT_EQ(log.back().traits.reason, Reason::conflict);
}

TEST(Attribution, ChangesNoCount) {
    Machine machine = small_machine();
    machine.processors = 18;
    machine.l2 = {std::uint64_t{128} * 256, 4};
    const auto play = [&](bool looked_at) {
        Hierarchy hierarchy(machine, moesi(), test::kRandomLines);
        TimingMerger merger(hierarchy);
        std::uint64_t misses = 0;
        std::uint64_t upgrades = 0;
        Attribution attribution(hierarchy, merger, [&](const Miss& miss) {
            ++(miss.traits.request == Request::miss ? misses : upgrades);
        });
        if (looked_at) {
            merger.observe(attribution);
        }
        Epoch begin(machine.processors);
        begin.mark = Mark::measure_begin;
        merger.play(begin);
        test::RandomEpochs epochs(machine.processors, 80);
        for (unsigned i = 0; i < 20; ++i) {
            merger.play(noted(epochs.next(500)));
        }
        if (looked_at) {
            EXPECT_EQ(misses, hierarchy.stats().sum(Stat::l2_misses));
            EXPECT_EQ(upgrades, hierarchy.stats().sum(Stat::upgrades));
        }
        return std::pair(hierarchy.stats().all(), merger.clock_ns());
    };
    EXPECT_EQ(play(true), play(false));
}

TEST(Shadow, TheLeastRecentlyUsedLineLeaves) {
    Shadow shadow(3);
    for (const Line line : {1U, 2U, 3U, 1U, 4U}) {
        shadow.touch(line);
    }
    EXPECT_TRUE(shadow.holds(1));
    EXPECT_FALSE(shadow.holds(2));
    shadow.drop(1);
    EXPECT_FALSE(shadow.holds(1));
    shadow.touch(5);
    EXPECT_TRUE(shadow.holds(3)) << "there was room";
    shadow.touch(6);
    EXPECT_FALSE(shadow.holds(3));
    EXPECT_TRUE(shadow.holds(4));
}

}  // namespace s80::model
