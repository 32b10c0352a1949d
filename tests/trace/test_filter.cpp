// SPDX-License-Identifier: GPL-2.0-or-later
// The rule of the filter, one clause a test. L1s of two sets and two ways: lines of the same parity share a
// set.
#include "trace/filter.h"

#include <gtest/gtest.h>

#include "capture_file.h"

namespace s80::test {

using model::Event;
using model::Op;

class FilterTest : public ::testing::Test {
protected:
    static constexpr model::Line X = 4, Y = 6, Z = 8;  // of one set
    static constexpr model::Line kOtherSet = 5;

    static model::Machine machine(unsigned processors, unsigned threads, model::Policy policy) {
        model::Machine m = model::Machine::parse(kMachine, "the test's machine");
        m.processors = processors;
        m.threads_per_core = threads;
        m.policy = policy;
        return m;
    }
    trace::L1Filter filter{machine(3, 1, model::Policy::lru)};
    unsigned processors = 3;

    void two_threads_a_core() {
        filter = trace::L1Filter(machine(4, 2, model::Policy::lru));
        processors = 4;
    }
    /// One access in a epoch of its own: what is left of it.
    std::vector<Event> left(unsigned processor, Op op, model::Line line, std::uint16_t delta = 1) {
        filter.event(processor, Event{line, delta, 0, op, 0, {}}, 0);
        filter.end(model::Epoch(processors));
        const model::Stream& stream = filter.epoch().streams[processor];
        return {stream.events.begin(), stream.events.begin() + static_cast<std::ptrdiff_t>(stream.size)};
    }
    bool passes(unsigned processor, Op op, model::Line line) { return !left(processor, op, line).empty(); }
    bool load(unsigned processor, model::Line line) { return passes(processor, Op::load, line); }
    bool store(unsigned processor, model::Line line) { return passes(processor, Op::store, line); }
    bool fetch(unsigned processor, model::Line line) { return passes(processor, Op::ifetch, line); }
};

TEST_F(FilterTest, AMissPassesAndAHitIsAbsorbed) {
    EXPECT_TRUE(load(0, X));
    EXPECT_FALSE(load(0, X));
    EXPECT_FALSE(passes(0, Op::walk, X));
    EXPECT_TRUE(fetch(0, Z));
    EXPECT_FALSE(fetch(0, Z));
    EXPECT_TRUE(load(0, Z)) << "the L1D is another cache";
    EXPECT_TRUE(load(1, X)) << "each core has its own";
}

TEST_F(FilterTest, OnlyAStoreGivesWritePermission) {
    EXPECT_TRUE(load(0, X));
    EXPECT_TRUE(store(0, X));
    EXPECT_FALSE(store(0, X));
    EXPECT_FALSE(load(0, X));
    EXPECT_TRUE(store(0, Y)) << "a store that misses passes once";
    EXPECT_FALSE(store(0, Y));
}

TEST_F(FilterTest, AnothersStoreDropsEveryCopy) {
    load(0, X);
    fetch(1, X);
    EXPECT_TRUE(store(2, X));
    EXPECT_TRUE(load(0, X));
    EXPECT_TRUE(fetch(1, X));
}

TEST_F(FilterTest, AnothersLoadDropsAWritableLine) {
    store(0, X);
    EXPECT_TRUE(load(1, X));
    EXPECT_TRUE(load(0, X));
    EXPECT_TRUE(store(0, X));
}

TEST_F(FilterTest, AnothersFetchDropsAWritableLine) {
    store(0, X);
    EXPECT_TRUE(fetch(1, X));
    EXPECT_TRUE(load(0, X));
}

TEST_F(FilterTest, AnothersLoadDropsAModifiedLineAfterAnOwnFetch) {
    store(0, X);
    fetch(0, X);
    EXPECT_TRUE(load(1, X));
    EXPECT_TRUE(load(0, X)) << "the block may have gone to the other core";
    EXPECT_TRUE(fetch(0, X));
}

TEST_F(FilterTest, AnothersLoadDropsAModifiedLineThatWasEvictedAndLoadedAgain) {
    store(0, X);
    load(0, Y);
    load(0, Z);
    EXPECT_TRUE(load(0, X));
    EXPECT_TRUE(load(1, X));
    EXPECT_TRUE(load(0, X)) << "the block may have gone to the other core";
    EXPECT_FALSE(load(1, X)) << "nobody has stored since: both keep it";
    EXPECT_FALSE(load(0, X));
}

TEST_F(FilterTest, ALineInDoubtKeepsItsWay) {
    store(0, X);
    load(1, X);
    EXPECT_EQ(left(0, Op::load, Y).at(0).way, 1);
    EXPECT_EQ(left(0, Op::load, X).at(0).way, 0) << "asked for once more";
    EXPECT_FALSE(load(0, X));
    EXPECT_EQ(left(0, Op::load, Z).at(0).way, 1) << "the access in doubt was a use of X";
}

TEST_F(FilterTest, AStoreEndsTheDoubt) {
    store(0, X);
    load(1, X);
    EXPECT_TRUE(store(0, X));
    EXPECT_FALSE(load(0, X));
    EXPECT_FALSE(store(0, X));
}

TEST_F(FilterTest, AnothersLoadLeavesAReadableLine) {
    load(0, X);
    EXPECT_TRUE(load(1, X));
    EXPECT_FALSE(load(0, X));
    EXPECT_FALSE(load(1, X));
}

TEST_F(FilterTest, AnAbsorbedStoreHasNoOthersToTell) {
    store(0, X);
    load(1, X);
    store(0, X);
    EXPECT_TRUE(load(1, X)) << "the store passed, and dropped this copy";
}

TEST_F(FilterTest, OwnStoreDropsTheInstructionCopy) {
    fetch(0, X);
    EXPECT_TRUE(store(0, X));
    EXPECT_TRUE(fetch(0, X));
}

TEST_F(FilterTest, OwnFetchTakesTheWritePermission) {
    store(0, X);
    EXPECT_TRUE(fetch(0, X));
    EXPECT_FALSE(load(0, X)) << "still readable";
    EXPECT_TRUE(store(0, X));
}

TEST_F(FilterTest, TheLeastRecentlyUsedLineGoes) {
    load(0, X);
    load(0, Y);
    load(0, X);
    EXPECT_TRUE(load(0, Z)) << "in the place of Y";
    EXPECT_FALSE(load(0, X));
    EXPECT_TRUE(load(0, Y));
    EXPECT_TRUE(load(0, kOtherSet));
}

TEST_F(FilterTest, AbsorbedStoresCountAsUses) {
    store(0, X);
    load(0, Y);
    store(0, X);
    load(0, Z);
    EXPECT_FALSE(store(0, X));
}

TEST_F(FilterTest, ADroppedWayIsFilledFirst) {
    load(0, X);
    load(0, Y);
    store(1, Y);  // Y was used last, but its way is empty now
    EXPECT_TRUE(load(0, Z));
    EXPECT_FALSE(load(0, X));
}

TEST_F(FilterTest, EventsNameTheWay) {
    EXPECT_EQ(left(0, Op::load, X).at(0).way, 0);
    EXPECT_EQ(left(0, Op::load, Y).at(0).way, 1);
    EXPECT_EQ(left(0, Op::store, Y).at(0).way, 1) << "where it is found";
    EXPECT_EQ(left(0, Op::load, Z).at(0).way, 0) << "that of the victim X";
}

TEST_F(FilterTest, ThreadsOfACoreShareItsL1s) {
    two_threads_a_core();
    EXPECT_TRUE(store(0, X));
    EXPECT_FALSE(load(1, X));
    EXPECT_FALSE(store(1, X)) << "the permission is the core's";
    EXPECT_TRUE(load(2, X)) << "the other core";
    EXPECT_TRUE(load(1, X)) << "that took the line away from both threads";
    EXPECT_FALSE(load(0, X));
    EXPECT_FALSE(load(3, X));
}

TEST_F(FilterTest, ThePolicyIsTheMachines) {
    // A tree of two ways is LRU; random takes the same victim whatever was used.
    filter = trace::L1Filter(machine(3, 1, model::Policy::random));
    model::Replacement expected(model::Policy::random, 2);
    load(0, X);
    load(0, Y);
    for (model::Line line = 8; line < 40; line += 2) {
        EXPECT_EQ(left(0, Op::load, line).at(0).way, expected.victim(0));
    }
}

TEST_F(FilterTest, InstructionsOfAbsorbedEventsAreKept) {
    load(0, X);
    model::Epoch epoch(3);
    for (const std::uint16_t delta : {100, 30'000, 30'000, 30'000}) {
        filter.event(0, Event{X, delta, 0, Op::load, 0, {}}, 0);
    }
    filter.event(0, Event{Y, 7, 0, Op::load, 0, {}}, 0);
    filter.event(0, Event{X, 5, 0, Op::load, 0, {}}, 0);
    epoch.streams[0].tail = 30;
    epoch.streams[0].ran = true;
    filter.end(epoch);
    const model::Stream& stream = filter.epoch().streams[0];
    ASSERT_EQ(stream.size, 3U);
    EXPECT_EQ(stream.events[0].op, Op::pass);
    EXPECT_EQ(stream.events[0].delta, 32767);
    EXPECT_EQ(stream.events[1].op, Op::pass);
    EXPECT_EQ(stream.events[1].delta, 32767);
    EXPECT_EQ(stream.events[2].op, Op::load);
    EXPECT_EQ(stream.events[2].line, Y);
    EXPECT_EQ(stream.events[2].delta, 100 + 3 * 30'000 + 7 - 2 * 32767);
    EXPECT_EQ(stream.tail, 35U);
}

/// Numbers of awaited events stay what they are: an absorbed access leaves a pass in its place.
TEST_F(FilterTest, AwaitedEventsAndEdgesAreKept) {
    load(0, X);
    const model::Context kernel(model::Privilege::kernel, model::ProcessClass::session);
    filter.event(0, Event{Z, 3, 1, Op::load, 0, {}}, 0);
    filter.event(0, Event{X, 5, 1, Op::load, 0, kernel}, 0);
    filter.event(0, Event{X, 7, 0, Op::load, 0, kernel}, 0);
    filter.event(0, Event{0, 11, 1, Op::pass, 0, {}}, 0);
    filter.event(0, Event{0, 13, 0, Op::pass, 0, {}}, 0);
    filter.event(0, Event{model::Edge{2, 9}.word(), 17, 0, Op::after, 0, {}}, 0);
    filter.end(model::Epoch(3));
    const model::Stream& stream = filter.epoch().streams[0];
    ASSERT_EQ(stream.size, 4U);
    EXPECT_EQ(stream.events[0].op, Op::load);
    EXPECT_EQ(stream.events[0].line, Z);
    EXPECT_EQ(stream.events[0].awaited, 1);
    EXPECT_EQ(stream.events[0].delta, 3);
    EXPECT_EQ(stream.events[1].op, Op::pass) << "the absorbed load of X";
    EXPECT_EQ(stream.events[1].awaited, 1);
    EXPECT_EQ(stream.events[1].delta, 5);
    EXPECT_EQ(stream.events[1].context.value, kernel.value);
    EXPECT_EQ(stream.events[2].op, Op::pass);
    EXPECT_EQ(stream.events[2].awaited, 1);
    EXPECT_EQ(stream.events[2].delta, 7 + 11);
    EXPECT_EQ(stream.events[3].op, Op::after);
    EXPECT_EQ(stream.events[3].line, (model::Edge{2, 9}.word()));
    EXPECT_EQ(stream.events[3].awaited, 0);
    EXPECT_EQ(stream.events[3].delta, 13 + 17);
}

TEST_F(FilterTest, OnlyTheLastOfSplitInstructionsIsAwaited) {
    load(0, X);
    filter.event(0, Event{X, 30'000, 0, Op::load, 0, {}}, 0);
    filter.event(0, Event{X, 30'000, 1, Op::load, 0, {}}, 0);
    filter.end(model::Epoch(3));
    const model::Stream& stream = filter.epoch().streams[0];
    ASSERT_EQ(stream.size, 2U);
    EXPECT_EQ(stream.events[0].awaited, 0);
    EXPECT_EQ(stream.events[0].delta, 32'767);
    EXPECT_EQ(stream.events[1].awaited, 1);
    EXPECT_EQ(stream.events[1].delta, 60'000 - 32'767);
}

TEST_F(FilterTest, TheRestOfTheEpochSurvives) {
    model::Epoch epoch(3);
    epoch.signals = 2;
    epoch.idle_before_ns = 77;
    epoch.mark = model::Mark::interval;
    epoch.index = 5;
    epoch.instructions = 1234;
    epoch.transactions[3] = {8, 1};
    epoch.slices.add(70);
    epoch.streams[1].runs_on = true;
    epoch.streams[2].ran = true;
    epoch.streams[2].use(model::Context(4));
    epoch.streams[2].instructions[4] = 99;
    epoch.streams[2].accesses[4] = {1, 2, 3, 4};
    epoch.streams[2].classes[4][1] = 9;
    filter.event(2, Event{1, 10, 0, Op::signal, 0, {}}, 0);
    filter.event(2, Event{0, 20, 0, Op::wait, 0, {}}, 0);
    filter.end(epoch);
    const model::Epoch& w = filter.epoch();
    EXPECT_TRUE(w.placed);
    EXPECT_EQ(w.signals, 2U);
    EXPECT_EQ(w.idle_before_ns, 77U);
    EXPECT_EQ(w.mark, model::Mark::interval);
    EXPECT_EQ(w.index, 5U);
    EXPECT_EQ(w.instructions, 1234U);
    EXPECT_EQ(w.transactions, epoch.transactions);
    EXPECT_EQ(w.slices, epoch.slices);
    EXPECT_FALSE(w.streams[0].ran);
    EXPECT_TRUE(w.streams[1].runs_on);
    EXPECT_TRUE(w.streams[2].ran);
    EXPECT_EQ(w.streams[2].instructions, epoch.streams[2].instructions);
    EXPECT_EQ(w.streams[2].accesses, epoch.streams[2].accesses);
    EXPECT_EQ(w.streams[2].classes, epoch.streams[2].classes);
    ASSERT_EQ(w.streams[2].size, 2U);
    EXPECT_EQ(w.streams[2].events[0].op, Op::signal);
    EXPECT_EQ(w.streams[2].events[0].line, 1U);
    EXPECT_EQ(w.streams[2].events[1].op, Op::wait);
    EXPECT_EQ(w.streams[2].events[1].delta, 20);

    filter.end(model::Epoch(3));
    EXPECT_EQ(filter.epoch().streams[2].size, 0U) << "the next window begins empty";
}

}  // namespace s80::test
