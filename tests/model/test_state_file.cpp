// SPDX-License-Identifier: GPL-2.0-or-later
#include "checkpoint/state_file.h"

#include <span>

#include "small_machine.h"
#include "temporary_file.h"

namespace s80::model {

class StateFile : public SmallMachine {
protected:
    TimingMerger merger{h};
    test::TemporaryFile file;

    void fill() {
        store(0, X);
        load(1, X);
        fetch(2, Y);
        TimingMerger::Clock clock = merger.clock();
        clock.cycles = 123456;
        clock.paces[2].lead = 7;
        merger.set_clock(clock);
    }
    std::string refusal() {
        Hierarchy other(small_machine(), moesi(), 1024);
        TimingMerger fresh(other);
        try {
            load_state(file.path(), other, fresh);
        } catch (const Error& e) {
            return e.what();
        }
        return "accepted";
    }
};

TEST_F(StateFile, RestoresCachesClockAndCounters) {
    fill();
    save_state(file.path(), h, merger, {1, 2, 3});
    Hierarchy other(small_machine(), moesi(), 1024);
    TimingMerger fresh(other);
    EXPECT_EQ(load_state(file.path(), other, fresh), (Extra{1, 2, 3}));
    EXPECT_EQ(other.caches().state(0, X), h.caches().state(0, X));
    EXPECT_EQ(other.stats().all(), h.stats().all());
    EXPECT_EQ(fresh.clock().cycles, 123456U);
    EXPECT_EQ(fresh.paces()[2].lead, 7);
    // The masks follow from the tags: a third core still finds the owner.
    other.access(2, X, Kind::load, user);
    EXPECT_EQ(other.stats().source(2, user, Kind::load, Source::O), 1U);
}

TEST_F(StateFile, RestoresPacesAndLeads) {
    TimingMerger::Clock clock = merger.clock();
    clock.paces[0] = {7'000, 21, 512};
    clock.paces[2] = {std::uint64_t{1} << 40, 3, -1'000'000};
    merger.set_clock(clock);
    save_state(file.path(), h, merger, {});
    Hierarchy other(small_machine(), moesi(), 1024);
    TimingMerger fresh(other);
    load_state(file.path(), other, fresh);
    ASSERT_EQ(fresh.paces().size(), 3U);
    EXPECT_EQ(fresh.paces()[0].busy, 7'000U);
    EXPECT_EQ(fresh.paces()[0].instructions, 21U);
    EXPECT_EQ(fresh.paces()[0].lead, 512);
    EXPECT_EQ(fresh.paces()[1].cpi(), 0U);
    EXPECT_EQ(fresh.paces()[2].busy, std::uint64_t{1} << 40);
    EXPECT_EQ(fresh.paces()[2].instructions, 3U);
    EXPECT_EQ(fresh.paces()[2].lead, -1'000'000);
}

TEST_F(StateFile, ARestoredPlayerGoesOnLikeTheSavedOne) {
    Epoch epoch{3};
    for (unsigned p = 0; p < 3; ++p) {
        Stream& s = epoch.streams[p];
        s.events = {Event{X + p, 100, 0, Op::store, 0, user}};
        s.size = 1;
        s.tail = 700 * p;
        s.ran = s.runs_on = true;
    }
    merger.play(epoch);
    save_state(file.path(), h, merger, {});
    Hierarchy other(small_machine(), moesi(), 1024);
    TimingMerger restored(other);
    load_state(file.path(), other, restored);
    merger.play(epoch);
    restored.play(epoch);
    EXPECT_EQ(restored.clock_ns(), merger.clock_ns());
    EXPECT_EQ(other.stats().all(), h.stats().all());
    for (unsigned p = 0; p < 3; ++p) {
        EXPECT_EQ(restored.paces()[p].busy, merger.paces()[p].busy);
        EXPECT_EQ(restored.paces()[p].lead, merger.paces()[p].lead);
    }
}

TEST_F(StateFile, AStateOfTheVersionBeforeIsRefused) {
    save_state(file.path(), h, merger, {});
    std::string whole = file.read();
    ASSERT_EQ(whole.substr(8, 8), "S80STAT7");
    whole[15] = '6';
    file.write(whole);
    EXPECT_NE(refusal().find("is not a model state of this version"), std::string::npos) << refusal();
}

TEST_F(StateFile, RestoresBlocksOfExclusiveL1sAndWhatMemoryRemembers) {
    Machine machine = small_machine();
    machine.l2_inclusion = "exclusive";
    Hierarchy before(machine, shipped("hammer"), 1024);
    TimingMerger clock(before);
    before.access(0, X, Kind::store, user);
    before.access(1, X, Kind::load, user);
    before.access(2, X, Kind::load, user);
    for (const Line line : {6U, 8U, 10U}) {  // of X's set: core 1, the owner, gives X up
        before.access(1, line, Kind::load, user);
    }
    before.access(0, Y, Kind::store, user);
    ASSERT_EQ(before.home().remembered(), std::vector<Line>{X});
    save_state(file.path(), before, clock, {});

    Hierarchy after(machine, shipped("hammer"), 1024);
    TimingMerger fresh(after);
    load_state(file.path(), after, fresh);
    EXPECT_EQ(after.home().remembered(), std::vector<Line>{X});
    EXPECT_EQ(after.caches().state(0, Y), after.protocol().find("MM"));
    EXPECT_TRUE(after.caches().in_l1(0, Y, false));
    EXPECT_EQ(after.access(0, Y, Kind::store, user).stall, 0U);
    after.access(1, Y, Kind::load, user);
    EXPECT_EQ(after.caches().state(1, Y), after.protocol().find("D"));  // found in the L1 that held it
}

namespace {

/// The first processor misses for longer than its epoch lasts, so bus and memory stay busy beyond it.
Epoch long_stream() {
    Epoch epoch{3};
    for (unsigned p = 0; p < 3; ++p) {
        Stream& s = epoch.streams[p];
        for (unsigned i = 0; i < (p == 0 ? 60U : 6U); ++i) {
            s.events.push_back(Event{64 * p + i, 10, 0, Op::store, 0, {}});
        }
        s.size = s.events.size();
        s.ran = s.runs_on = true;
    }
    return epoch;
}

struct Queued {
    explicit Queued(Bandwidth bandwidth) : h(with(bandwidth), moesi(), 1024), merger(h) {}
    static Machine with(Bandwidth bandwidth) {
        Machine m = small_machine();
        m.bandwidth = bandwidth;
        return m;
    }
    std::vector<std::uint64_t> busy() { return h.home().state(); }

    Hierarchy h;
    TimingMerger merger;
};

}  // namespace

TEST_F(StateFile, RestoresWhatIsStillBusy) {
    Queued before({50, 60, 2});
    before.merger.play(long_stream());
    ASSERT_NE(before.busy(), Queued({50, 60, 2}).busy());
    save_state(file.path(), before.h, before.merger, {});

    Queued after({50, 60, 2});
    load_state(file.path(), after.h, after.merger);
    EXPECT_EQ(after.busy(), before.busy());
    Queued forgetful({50, 60, 2});
    load_state(file.path(), forgetful.h, forgetful.merger);
    EXPECT_TRUE(forgetful.h.home().set_state({}));
    for (Queued* machine : {&before, &after, &forgetful}) {
        machine->merger.play(long_stream());
    }
    EXPECT_EQ(after.h.stats().all(), before.h.stats().all());
    EXPECT_NE(forgetful.h.stats().all(), before.h.stats().all());
}

TEST_F(StateFile, QueuesOfAnotherBandwidthBeginEmpty) {
    for (const Bandwidth& saved : {Bandwidth{}, Bandwidth{50, 60, 2}}) {
        Queued before(saved);
        before.merger.play(long_stream());
        save_state(file.path(), before.h, before.merger, {4, 5});
        for (const Bandwidth& other : {Bandwidth{}, Bandwidth{50, 0, 1}, Bandwidth{50, 60, 4}}) {
            Queued after(other);
            EXPECT_EQ(load_state(file.path(), after.h, after.merger), (Extra{4, 5}));
            EXPECT_EQ(after.busy(), Queued(other).busy());
        }
    }
    EXPECT_TRUE(Queued({}).busy().empty()) << "a machine without queues has the file that it always had";
}

TEST_F(StateFile, BusyTimesThatAreCutShortAreNoneOfAQueue) {
    Queued before({50, 60, 2});
    before.merger.play(long_stream());
    std::vector<std::uint64_t> words = before.busy();
    EXPECT_TRUE(Queued({50, 60, 2}).h.home().set_state(words));
    words.push_back(0);
    EXPECT_FALSE(Queued({50, 60, 2}).h.home().set_state(words));
    for (std::size_t size = words.size() - 1; --size >= 3;) {
        EXPECT_FALSE(Queued({50, 60, 2}).h.home().set_state(std::span(words).first(size))) << size;
    }
}

TEST_F(StateFile, AnotherOrganisationIsRefused) {
    Machine machine = small_machine();
    machine.l2_inclusion = "exclusive";
    Hierarchy other(machine, moesi(), 1024);
    TimingMerger fresh(other);
    save_state(file.path(), other, fresh, {});
    EXPECT_NE(refusal().find("is of another machine or protocol"), std::string::npos) << refusal();
}

TEST_F(StateFile, TruncatedIsRefused) {
    fill();
    save_state(file.path(), h, merger, {});
    const std::string whole = file.read();
    file.write(whole.substr(0, whole.size() / 2));
    EXPECT_NE(refusal().find("is truncated"), std::string::npos) << refusal();
}

TEST_F(StateFile, OneFlippedBitIsRefused) {
    fill();
    save_state(file.path(), h, merger, {});
    std::string whole = file.read();
    whole[whole.size() - 20] = static_cast<char>(whole[whole.size() - 20] ^ 1);
    file.write(whole);
    EXPECT_NE(refusal().find("is corrupt"), std::string::npos) << refusal();
}

TEST_F(StateFile, AnotherGeometryIsRefused) {
    Machine big = small_machine();
    big.l2.bytes *= 2;
    Hierarchy other(big, moesi(), 1024);
    TimingMerger fresh(other);
    save_state(file.path(), other, fresh, {});
    EXPECT_NE(refusal().find("is of another machine or protocol"), std::string::npos) << refusal();
}

}  // namespace s80::model
