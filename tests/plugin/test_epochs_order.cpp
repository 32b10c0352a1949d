// SPDX-License-Identifier: GPL-2.0-or-later
// Conflicting accesses: ordering edges, and the ends of time slices.
#include <string>
#include <vector>

#include "epochs_fixture.h"

namespace s80::plugin {

using model::Kind;
using model::Mark;
using model::Op;

/// A time slice for each access, of a processor that executed so many instructions before it.
class EdgeTest : public EpochsTest {
protected:
    void access(unsigned processor, model::Line line, Kind kind, std::uint64_t after = 1) {
        ASSERT_TRUE(begin(processor));
        execute(processor, after);
        epochs_.access(vcpu(processor), line, kind);
        over_ = epochs_.slice_over(vcpu(processor));
        epochs_.end_slice();
    }
    void load(unsigned processor, model::Line line) { access(processor, line, Kind::load); }
    void store(unsigned processor, model::Line line) { access(processor, line, Kind::store); }
    /// The streams of the epoch, as "op line" with "!" for awaited events and "after processor.number" for
    /// edges.
    std::vector<std::string> stream(unsigned processor, std::size_t epoch = 0) const {
        static constexpr const char* kNames[] = {"fetch", "load", "store", "walk", "pass", "signal", "wait"};
        std::vector<std::string> all;
        for (const model::Event& e : events(epoch, processor)) {
            const model::Edge edge = e.edge();
            std::string text =
                e.op == Op::after
                    ? "after " + std::to_string(edge.processor) + '.' + std::to_string(edge.number)
                    : kNames[static_cast<unsigned>(e.op)] + (' ' + std::to_string(e.line));
            all.push_back(text + (e.awaited != 0 ? "!" : ""));
        }
        return all;
    }
    using Stream = std::vector<std::string>;

    bool over_ = false;  ///< whether the last access ended its time slice
};

TEST_F(EdgeTest, ALoadWaitsForTheStoreOfAnotherProcessor) {
    store(0, 70);
    EXPECT_FALSE(over_);
    load(1, 70);
    EXPECT_TRUE(over_);
    epochs_.finish();
    EXPECT_EQ(stream(0), (Stream{"store 70!"}));
    EXPECT_EQ(stream(1), (Stream{"after 0.0", "load 70"}));
    EXPECT_EQ(event(0, 1, 0).delta, 1U);
    EXPECT_EQ(event(0, 1, 1).delta, 0U) << "the edge is of the same block";
}

TEST_F(EdgeTest, AConflictEndsTheSliceAtTheNextBlock) {
    store(0, 70);
    begin(1);
    execute(1, 1);
    vcpu(1).check_at = 200;
    epochs_.access(vcpu(1), 70, Kind::load);
    EXPECT_EQ(vcpu(1).check_at, 0U);
    EXPECT_TRUE(epochs_.slice_over(vcpu(1)));
    epochs_.end_slice();
    begin(1);
    EXPECT_FALSE(epochs_.slice_over(vcpu(1))) << "the next one begins";
    EXPECT_EQ(closed(), 0U);
}

TEST_F(EdgeTest, AStoreWaitsForTheLastStoreAndForEachReaderSince) {
    store(0, 70);
    load(1, 70);
    store(2, 70);
    epochs_.finish();
    EXPECT_EQ(stream(0), (Stream{"store 70!"}));
    EXPECT_EQ(stream(1), (Stream{"after 0.0", "load 70!"}));
    EXPECT_EQ(stream(2), (Stream{"after 0.0", "after 1.0", "store 70!"})) << "the next epoch may wait for it";
}

TEST_F(EdgeTest, ALoadAfterAPauseWaitsForTheStoreHoweverLate) {
    store(0, 70);
    load(2, 70);
    vcpu(1).slice.paused = true;
    load(1, 70);
    epochs_.finish();
    EXPECT_EQ(event(0, 1, 0).edge().wait, model::Wait::store);
    EXPECT_EQ(event(0, 2, 0).edge().wait, model::Wait::transfer);
    EXPECT_FALSE(vcpu(1).slice.paused) << "its next time slice does not poll";
}

TEST_F(EdgeTest, AStoreKeepsTheOrderWithLoadsOnly) {
    load(0, 70);
    store(1, 70);
    epochs_.finish();
    EXPECT_EQ(event(0, 1, 0).edge().wait, model::Wait::nothing);
}

// --- time that conflicts take ---

/// In cycles since the epoch began.
class ConflictTimeTest : public EdgeTest {
protected:
    std::int64_t time(unsigned processor) {
        return vcpu(processor).share.time(vcpu(processor).instructions) / model::TimingMerger::kUnit;
    }
    const std::int64_t transfer_ = machine_.latency.cache;
    const std::int64_t upgrade_ = machine_.latency.upgrade;
};

TEST_F(ConflictTimeTest, AnAccessWithoutAConflictTakesNone) {
    store(0, 70);
    store(0, 70);
    load(1, 71);
    EXPECT_EQ(time(0), 2);
    EXPECT_EQ(time(1), 1);
}

TEST_F(ConflictTimeTest, AMissWaitsForTheStoreAndForTheLine) {
    slice(0, 20);
    store(0, 70);  // at 21
    load(1, 70);
    EXPECT_EQ(time(1), 21 + transfer_);
    store(1, 70);  // an instruction later
    EXPECT_EQ(time(1), 21 + transfer_ + 1 + upgrade_);
}

TEST_F(ConflictTimeTest, AProcessorThatIsLaterDoesNotWait) {
    store(0, 70);
    slice(1, 20);
    load(1, 70);
    EXPECT_EQ(time(1), 21 + transfer_);
}

TEST_F(ConflictTimeTest, OnlyAPollWaitsForLong) {
    slice(0, 900);
    store(0, 70);
    ASSERT_GT(901 * model::TimingMerger::kUnit, model::TimeRules::of_recorder(machine_).longest_wait());
    load(1, 70);
    EXPECT_EQ(time(1), 1 + transfer_);
    vcpu(2).slice.paused = true;
    load(2, 70);
    EXPECT_EQ(time(2), 901 + transfer_);
}

TEST_F(ConflictTimeTest, AStallEndsTheShareEarlier) {
    store(0, 70);
    const std::uint64_t end = vcpu(1).share.end();
    load(1, 70);
    EXPECT_EQ(vcpu(1).share.end(), end - static_cast<std::uint64_t>(transfer_));
}

// --- who executes ---

/// Processors 0 and 1 contend, and processor 1 is the earlier one.
class ContendersTest : public ConflictTimeTest {
protected:
    void SetUp() override {
        store(0, 70);
        store(1, 70);
        store(0, 70);
        ASSERT_LT(time(1), time(0));
    }
};

TEST_F(ContendersTest, TheEarlierOneExecutesUntilItHasPassedTheOther) {
    EXPECT_FALSE(begin(0));
    EXPECT_TRUE(begin(2)) << "it does not contend";
    turn(1);
    epochs_.end_slice();
    EXPECT_GT(time(1) - time(0), machine_.quantum_cycles);
    EXPECT_LE(time(1) - time(0), machine_.quantum_cycles + 1);
    EXPECT_FALSE(begin(1));
    EXPECT_TRUE(begin(0));
}

TEST_F(ContendersTest, ABlockThatAccessedADisputedLineDoesNotGetThatFarAhead) {
    constexpr std::uint64_t kAnother = 1;
    ASSERT_TRUE(begin(1));
    EXPECT_FALSE(epochs_.slice_over(vcpu(1)));
    execute(1, vcpu(1).slice.contention_end - vcpu(1).instructions);
    EXPECT_GT(time(1), time(0));
    EXPECT_LT(time(1) - time(0), upgrade_);
    EXPECT_TRUE(epochs_.slice_over(vcpu(1)));
    vcpu(1).block_id = kAnother;
    EXPECT_FALSE(epochs_.slice_over(vcpu(1)));
    execute(1, vcpu(1).slice.end - vcpu(1).instructions);
    EXPECT_TRUE(epochs_.slice_over(vcpu(1)));
}

TEST_F(ConflictTimeTest, OneThatContendsAloneIsNotBounded) {
    store(0, 70);
    store(1, 70);
    vcpu(0).slice.contends_until = 0;
    ASSERT_TRUE(begin(1));
    EXPECT_EQ(vcpu(1).slice.contention_end, Vcpu::kNever);
    EXPECT_EQ(vcpu(1).slice.end, Vcpu::kNever);
}

TEST_F(ContendersTest, AnAccessToADisputedLineEndsTheSliceOfOneThatIsAhead) {
    ASSERT_TRUE(begin(1));
    vcpu(1).block_id = 1;
    epochs_.access(vcpu(1), 71, Kind::store);
    execute(1, static_cast<std::uint64_t>(time(0) - time(1)) + 10);
    epochs_.access(vcpu(1), 71, Kind::store);
    EXPECT_FALSE(epochs_.slice_over(vcpu(1))) << "nobody else uses this line";
    epochs_.end_slice();
    store(0, 70);
    EXPECT_FALSE(over_) << "it has the line, and is not ahead";
    ASSERT_TRUE(begin(0));
    execute(0, static_cast<std::uint64_t>(time(1) - time(0)) + 1);
    epochs_.access(vcpu(0), 70, Kind::store);
    EXPECT_TRUE(epochs_.slice_over(vcpu(0)));
}

TEST_F(ConflictTimeTest, KernelCodeThatHasNoConflictForLongContendsNoLonger) {
    const model::Context kernel(model::ProcessClass::kernel, model::KernelEntry::system_call);
    vcpu(0).context = vcpu(1).context = kernel;
    store(0, 70);
    store(1, 70);
    store(0, 70);
    EXPECT_TRUE(vcpu(1).contends());
    execute(1, 3'999);
    EXPECT_TRUE(vcpu(1).contends());
    execute(1, 1);
    EXPECT_FALSE(vcpu(1).contends());
    vcpu(0).slice.paused = true;
    EXPECT_TRUE(vcpu(0).contends()) << "it polls";
}

TEST_F(ContendersTest, UserCodeContendsForTwentyThousandCyclesAfterTheEpoch) {
    execute(1, 4'000);
    for (unsigned cycles = 0; cycles != 20'000; cycles += kEpoch) {
        epochs_.mark(model::Mark::none);
        EXPECT_TRUE(vcpu(1).contends()) << cycles;
    }
    epochs_.mark(model::Mark::none);
    EXPECT_FALSE(vcpu(1).contends());
}

// --- polls ---

/// Processor 1 polls line 70 with PAUSE. An iteration has three instructions.
class PollTest : public ConflictTimeTest {
protected:
    /// Returns whether the poll was executed.
    bool poll() {
        if (!epochs_.begin_slice(vcpu(1), registers_.data())) {
            return false;
        }
        vcpu(1).begin_loop(registers_.data());
        execute(1, 3);
        epochs_.access(vcpu(1), 70, Kind::load);
        ++vcpu(1).counts.accesses[static_cast<unsigned>(Kind::load)];
        epochs_.pause(vcpu(1));
        return true;
    }
    std::array<std::uint8_t, 256> registers_{};
};

TEST_F(PollTest, PollsThatRepeatThemselvesAreCountedUntilTheStore) {
    EXPECT_TRUE(poll());
    EXPECT_FALSE(poll());
    slice(0, 600);
    store(0, 70);
    EXPECT_TRUE(over_);
    EXPECT_GE(time(1), 601);
    EXPECT_LT(time(1), 601 + 3);
    EXPECT_EQ(vcpu(1).counts.accesses[static_cast<unsigned>(Kind::load)], vcpu(1).instructions / 3);
    EXPECT_TRUE(poll());
}

TEST_F(PollTest, APollWithOtherRegistersIsExecuted) {
    EXPECT_TRUE(poll());
    ++registers_[8];
    EXPECT_TRUE(poll()) << "it counts";
}

TEST_F(PollTest, APollAfterAStoreIsExecuted) {
    EXPECT_TRUE(poll());
    store(0, 70);
    EXPECT_TRUE(poll());
}

TEST_F(PollTest, APollThatStoresIsExecuted) {
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(epochs_.begin_slice(vcpu(1), registers_.data()));
        vcpu(1).begin_loop(registers_.data());
        execute(1, 3);
        epochs_.access(vcpu(1), 70, Kind::load);
        epochs_.access(vcpu(1), 70, Kind::store);
        epochs_.pause(vcpu(1));
    }
}

TEST_F(PollTest, ALoopThatIsFoundAtItsSecondBlockHasOneIteration) {
    ASSERT_TRUE(begin(1));
    vcpu(1).begin_loop(registers_.data());
    execute(1, 3);
    epochs_.access(vcpu(1), 70, Kind::load);
    ++registers_[168];  // the flags of QEMU's first block have another form
    vcpu(1).move_loop(registers_.data());
    execute(1, 3);  // the filter takes the load for a hit
    ASSERT_TRUE(vcpu(1).loop_returned(registers_.data()));
    epochs_.park(vcpu(1));
    slice(0, 600);
    store(0, 70);
    EXPECT_GE(time(1), 601);
    EXPECT_LT(time(1), 601 + 3) << "an iteration has 3 instructions";
}

TEST_F(PollTest, AnEpochEndsWhileAProcessorPolls) {
    EXPECT_TRUE(poll());
    EXPECT_FALSE(poll());
    all_of(0);
    EXPECT_EQ(closed(), 0U);
    all_of(2);
    ASSERT_EQ(closed(), 1U);
    EXPECT_GE(instructions(closed(0).streams[1]), kEpoch);
    EXPECT_LT(instructions(closed(0).streams[1]), kEpoch + 3);
    EXPECT_TRUE(poll()) << "devices and timers are looked for in each epoch";
}

TEST_F(PollTest, AnEpochThatEndsEarlyCountsPollsUpToTheProcessorThatIsBehind) {
    EXPECT_TRUE(poll());
    EXPECT_FALSE(poll());
    all_of(2);
    slice(0, 600);  // it may yet store in this epoch
    epochs_.mark(model::Mark::none);
    EXPECT_GE(instructions(closed(0).streams[1]), 600U);
    EXPECT_LT(instructions(closed(0).streams[1]), 600U + 6);
}

TEST_F(PollTest, AnInterruptEndsTheWait) {
    EXPECT_TRUE(poll());
    EXPECT_FALSE(poll());
    ASSERT_TRUE(begin(0));
    execute(0, 300);
    epochs_.interrupt(vcpu(0), vcpu(1));
    EXPECT_TRUE(epochs_.slice_over(vcpu(0)));
    EXPECT_GE(time(1), 300);
    epochs_.end_slice();
    EXPECT_TRUE(begin(1));
}

// --- polls until a time ---

/// Processor 1 polls line 70 until a time.
class DeadlineTest : public ConflictTimeTest {
protected:
    void poll(std::uint64_t instructions) {
        ASSERT_TRUE(begin(1));
        vcpu(1).polls.recent.begin_interval(vcpu(1).instructions);
        execute(1, instructions);
        epochs_.access(vcpu(1), 70, Kind::load);
        epochs_.read_clock(vcpu(1));
        epochs_.end_slice();
    }
};

TEST_F(DeadlineTest, NobodyGetsFarAheadOfAProcessorThatPollsUntilATime) {
    ASSERT_TRUE(begin(0));
    EXPECT_EQ(vcpu(0).slice.end, Vcpu::kNever);
    epochs_.end_slice();
    for (int i = 0; i < 4; ++i) {
        poll(210);
    }
    slice(0, 900);
    slice(2, 1'000);
    vcpu(1).polls.recent.begin_interval(vcpu(1).instructions);
    ASSERT_TRUE(begin(1));
    EXPECT_LT(vcpu(1).slice.end, Vcpu::kNever);
    epochs_.access(vcpu(1), 71, Kind::store);
    EXPECT_FALSE(vcpu(1).watches_clock());
    epochs_.end_slice();
    EXPECT_TRUE(begin(0));
    EXPECT_EQ(vcpu(0).slice.end, Vcpu::kNever);
}

// --- waits in the wrong order ---

TEST_F(ConflictTimeTest, AFirstStoreAndALaterOneAreTwoWaitsOfAPoll) {
    store(0, 70);
    slice(1, 500);
    load(1, 70);
    store(0, 70);
    slice(0, 100);
    store(0, 70);
    vcpu(0).slice.contends_until = 0;
    vcpu(0).slice.contends_epochs = 0;
    vcpu(1).slice.paused = true;
    load(1, 70);
    epochs_.finish();
    std::vector<model::Wait> waits;
    for (const model::Event& e : events(0, 1)) {
        if (e.op == Op::after) {
            waits.push_back(e.edge().wait);
        }
    }
    EXPECT_EQ(waits, (std::vector{model::Wait::transfer, model::Wait::store, model::Wait::later}));
}

TEST_F(ConflictTimeTest, AProcessorThatPollsDoesNotGetAheadOfAContender) {
    store(0, 70);
    store(1, 70);  // contends
    slice(2, 900);
    vcpu(2).slice.paused = true;
    EXPECT_FALSE(begin(2));
    vcpu(2).slice.paused = false;
    EXPECT_TRUE(begin(2));
}

TEST_F(ContendersTest, TheLaterOneExecutesIfQemuDoesNotRunTheOther) {
    for (unsigned i = 0; i < 2 * kProcessors; ++i) {
        ASSERT_FALSE(begin(0));
    }
    ASSERT_TRUE(begin(0));
    EXPECT_GT(vcpu(0).slice.end, vcpu(0).instructions);
}

TEST_F(ConflictTimeTest, WithBoundedSlicesTheEarliestProcessorExecutes) {
    epochs_.bound_slices(10);
    slice(0, 10);
    EXPECT_FALSE(begin(0));
    ASSERT_TRUE(begin(1));
    EXPECT_EQ(vcpu(1).slice.end - vcpu(1).instructions, 10U);
}

TEST_F(ConflictTimeTest, AProcessorDoesNotKeepADisputedLineForLong) {
    store(0, 70);
    store(1, 70);
    begin(1);
    execute(1, 1);
    epochs_.access(vcpu(1), 70, Kind::store);
    EXPECT_FALSE(epochs_.slice_over(vcpu(1)));
    const std::uint64_t left = vcpu(1).slice.end - vcpu(1).instructions;
    EXPECT_EQ(left, 1'000U);
    EXPECT_EQ(vcpu(1).check_at, std::min(vcpu(1).check_at, vcpu(1).slice.end));
}

TEST_F(ConflictTimeTest, TheFirstAccessToADisputedLineInAnEpochEndsTheSlice) {
    store(0, 70);
    store(1, 70);
    epochs_.mark(model::Mark::none);
    store(1, 70);
    EXPECT_TRUE(over_) << "the other one may take the line";
    store(1, 70);
    EXPECT_FALSE(over_);
}

TEST_F(ConflictTimeTest, AnInterruptThatWakesAProcessorEndsTheSlice) {
    sleep(2, 1);
    begin(0);
    epochs_.interrupt(vcpu(0), vcpu(1));
    EXPECT_FALSE(epochs_.slice_over(vcpu(0))) << "the target is awake";
    epochs_.interrupt(vcpu(0), vcpu(2));
    EXPECT_TRUE(epochs_.slice_over(vcpu(0)));
}

TEST_F(EdgeTest, WalksAreLoads) {
    access(0, 70, Kind::walk);
    store(1, 70);
    access(2, 70, Kind::walk);
    epochs_.finish();
    EXPECT_EQ(stream(0), (Stream{"walk 70!"}));
    EXPECT_EQ(stream(1), (Stream{"after 0.0", "store 70!"}));
    EXPECT_EQ(stream(2), (Stream{"after 1.0", "walk 70"}));
}

TEST_F(EdgeTest, FetchesHaveNoOrder) {
    store(0, 70);
    begin(1);
    epochs_.add(vcpu(1), model::Event::access(model::Kind::ifetch, 70));
    EXPECT_FALSE(epochs_.slice_over(vcpu(1)));
    store(0, 70);
    EXPECT_FALSE(over_);
    epochs_.finish();
    EXPECT_EQ(stream(1), (Stream{"fetch 70"}));
    EXPECT_EQ(stream(0), (Stream{"store 70", "store 70"}));
}

TEST_F(EdgeTest, EdgesNameAwaitedEventsByTheirNumber) {
    store(0, 70);
    store(0, 71);
    store(0, 72);
    load(1, 72);
    load(2, 70);
    epochs_.finish();
    EXPECT_EQ(stream(0), (Stream{"store 70!", "store 71", "store 72!"}));
    EXPECT_EQ(stream(1), (Stream{"after 0.1", "load 72"}));
    EXPECT_EQ(stream(2), (Stream{"after 0.0", "load 70"}));
}

TEST_F(EdgeTest, AnEdgeToALaterEventIncludesTheEarlierOnes) {
    store(0, 70);
    store(0, 71);
    load(1, 71);
    load(1, 70);
    EXPECT_TRUE(over_) << "the line is transferred nevertheless";
    epochs_.finish();
    EXPECT_EQ(stream(0), (Stream{"store 70!", "store 71!"}));
    EXPECT_EQ(stream(1), (Stream{"after 0.1", "load 71", "load 70"}));
}

TEST_F(EdgeTest, SeveralProcessorsWaitForOneEvent) {
    store(0, 70);
    load(1, 70);
    load(2, 70);
    epochs_.finish();
    EXPECT_EQ(stream(0), (Stream{"store 70!"}));
    EXPECT_EQ(stream(1), (Stream{"after 0.0", "load 70"}));
    EXPECT_EQ(stream(2), (Stream{"after 0.0", "load 70"}));
}

TEST_F(EdgeTest, TheLastLoadOfAReaderIsAwaited) {
    load(0, 70);
    load(0, 71);
    load(0, 70);
    store(1, 70);
    epochs_.finish();
    EXPECT_EQ(stream(0), (Stream{"load 70", "load 71", "load 70!"}));
}

TEST_F(EdgeTest, AStoreBehindItsOwnEdgesIsFoundAgain) {
    store(0, 70);
    store(1, 70);  // at the second position
    load(2, 70);
    epochs_.finish();
    EXPECT_EQ(stream(1), (Stream{"after 0.0", "store 70!"}));
    EXPECT_EQ(stream(2), (Stream{"after 1.0", "load 70"}));
}

TEST_F(EdgeTest, AStoreBehindALongDeltaIsFoundAgain) {
    begin(0);
    execute(0, 40'000);
    epochs_.access(vcpu(0), 70, Kind::store);
    epochs_.end_slice();
    load(1, 70);
    epochs_.finish();
    EXPECT_EQ(stream(0), (Stream{"pass 0", "store 70!"}));
    EXPECT_EQ(stream(1), (Stream{"after 0.0", "load 70"}));
}

TEST_F(EdgeTest, AnEdgeBehindALongDeltaKeepsItsPlace) {
    store(0, 70);
    begin(1);
    execute(1, 40'000);
    epochs_.access(vcpu(1), 70, Kind::store);
    epochs_.end_slice();
    load(2, 70);
    epochs_.finish();
    EXPECT_EQ(stream(1), (Stream{"pass 0", "after 0.0", "store 70!"}));
    EXPECT_EQ(event(0, 1, 1).delta, 40'000U - 32'767U);
    EXPECT_EQ(stream(2), (Stream{"after 1.0", "load 70"}));
}

TEST_F(EdgeTest, EdgesBeyondTheRoomAreRecorded) {
    begin(1);
    for (unsigned i = 0; i < kFits - 1; ++i) {
        epochs_.access(vcpu(1), 200 + i, Kind::load);
    }
    epochs_.end_slice();
    store(0, 70);
    load(2, 70);
    store(1, 70);
    ASSERT_EQ(closed(), 1U);
    EXPECT_EQ(stream(1), (Stream{"load 200", "load 201", "load 202", "load 203", "after 0.0", "after 2.0",
                                 "store 70!"}));
    EXPECT_EQ(stream(2), (Stream{"after 0.0", "load 70!"}));
}

TEST_F(EdgeTest, AConflictWithTheLastEpochEndsTheSliceWithoutAnEdge) {
    store(0, 70);
    load(0, 71);
    epochs_.mark(Mark::none);
    load(1, 70);
    EXPECT_TRUE(over_);
    store(1, 71);
    EXPECT_TRUE(over_);
    epochs_.finish();
    EXPECT_EQ(stream(0, 0), (Stream{"store 70", "load 71"}));
    EXPECT_EQ(stream(1, 1), (Stream{"load 70", "store 71!"}));
}

TEST_F(EdgeTest, AContendedLineIsAwaitedInTheNextEpoch) {
    load(0, 71);
    store(0, 70);
    load(1, 70);
    store(0, 70);
    epochs_.mark(Mark::none);
    load(2, 70);
    epochs_.finish();
    EXPECT_EQ(stream(0, 0), (Stream{"load 71", "store 70!", "after 1.0", "store 70!"}));
    EXPECT_EQ(stream(2, 1), (Stream{"after 0.1", "load 70"}));
    EXPECT_EQ(event(1, 2, 0).edge().wait, model::Wait::before);
}

TEST_F(ConflictTimeTest, AMissWaitsForAStoreOfTheLastEpoch) {
    store(0, 70);
    load(1, 70);
    slice(0, 300);
    store(0, 70);
    const std::int64_t behind = time(1) - time(0);
    epochs_.mark(Mark::none);
    ASSERT_EQ(time(1) - time(0), behind);
    load(1, 70);
    EXPECT_EQ(time(1), time(0) + transfer_);
}

TEST_F(ConflictTimeTest, AStoreOfTheLastEpochIsCorrectedWithItsProcessor) {
    store(0, 70);
    load(1, 70);
    slice(0, 300);
    store(0, 70);
    const std::int64_t ahead = time(0) - time(1);
    sink_.known_.paces[0].lead = -100 * model::TimingMerger::kUnit;  // half of it is corrected
    epochs_.mark(Mark::none);
    ASSERT_EQ(time(0) - time(1), ahead - 50);
    load(1, 70);
    EXPECT_EQ(time(1), time(0) + transfer_);
}

TEST_F(EdgeTest, AnOlderEpochIsForgotten) {
    store(0, 70);
    epochs_.mark(Mark::none);
    epochs_.mark(Mark::none);
    load(1, 70);
    EXPECT_FALSE(over_);
}

TEST_F(EdgeTest, EdgesBeginAnewWithEachEpoch) {
    for (int epoch = 0; epoch < 2; ++epoch) {
        store(0, 70);
        slice(0, 300);  // it is later than the other one then
        load(1, 70);
        epochs_.mark(Mark::none);
    }
    EXPECT_EQ(stream(0, 0), (Stream{"store 70!"}));
    EXPECT_EQ(stream(1, 0), (Stream{"after 0.0", "load 70"}));
    EXPECT_EQ(stream(0, 1), (Stream{"store 70!"}));
    EXPECT_EQ(stream(1, 1), (Stream{"after 0.0", "load 70"}));
}

TEST_F(EdgeTest, AnAlternatingLineHasAnEdgeForEachAccess) {
    for (int i = 0; i < 2; ++i) {
        store(0, 70);
        store(1, 70);
    }
    epochs_.finish();
    EXPECT_EQ(stream(0), (Stream{"store 70!", "after 1.0", "store 70!"}));
    EXPECT_EQ(stream(1), (Stream{"after 0.0", "store 70!", "after 0.1", "store 70!"}));
}

TEST_F(EdgeTest, AProcessorThatPollsAContendedLineGivesUpItsSlice) {
    store(0, 70);
    load(1, 70);
    begin(1);
    execute(1, 1);
    epochs_.access(vcpu(1), 70, Kind::load);
    EXPECT_FALSE(epochs_.slice_over(vcpu(1))) << "the first filter interval: it may just use the line";
    vcpu(1).slice.reads_again = true;
    execute(1, 200);
    epochs_.access(vcpu(1), 70, Kind::load);
    EXPECT_TRUE(epochs_.slice_over(vcpu(1)));
}

TEST_F(EdgeTest, ALineToWhichAnotherOneStoresIsReadAgainSoon) {
    load(1, 71);
    store(0, 70);
    load(1, 70);  // now both have it
    begin(1);
    vcpu(1).filter.interval_end = vcpu(1).check_at = 1'000;
    epochs_.access(vcpu(1), 71, Kind::load);
    EXPECT_EQ(vcpu(1).check_at, 1'000U);
    epochs_.access(vcpu(1), 70, Kind::load);
    EXPECT_EQ(vcpu(1).filter.interval_end, vcpu(1).instructions + 200);
    EXPECT_EQ(vcpu(1).check_at, vcpu(1).filter.interval_end);
    execute(1, 100);
    epochs_.access(vcpu(1), 70, Kind::load);
    EXPECT_EQ(vcpu(1).filter.interval_end, vcpu(1).instructions + 100) << "not later than before";
}

TEST_F(EdgeTest, AProcessorThatReadsItsOwnLinesAgainKeepsItsSlice) {
    store(1, 70);
    begin(1);
    vcpu(1).slice.reads_again = true;
    execute(1, 200);
    epochs_.access(vcpu(1), 70, Kind::load);
    epochs_.access(vcpu(1), 71, Kind::load);
    EXPECT_FALSE(epochs_.slice_over(vcpu(1)));
    epochs_.end_slice();
    vcpu(1).slice.over = true;
    begin(1);
    EXPECT_FALSE(vcpu(1).slice.reads_again);
    EXPECT_FALSE(vcpu(1).slice.over);
}

}  // namespace s80::plugin
