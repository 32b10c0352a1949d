// SPDX-License-Identifier: GPL-2.0-or-later
// Where epochs end, what each processor executes in them, and what is counted.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "epochs_fixture.h"
#include "plugin/filter_key.h"

namespace s80::plugin {

using model::Mark;
using model::Op;
using model::TimingMerger;

// --- shares ---

TEST_F(EpochsTest, AnEpochEndsWhenAllHaveUsedUpTheirShares) {
    all_of(0);
    all_of(1);
    EXPECT_EQ(closed(), 0U);
    all_of(2);
    ASSERT_EQ(closed(), 1U);
    EXPECT_EQ(closed(0).instructions, 3 * kEpoch);
    for (const model::Stream& s : closed(0).streams) {
        EXPECT_TRUE(s.ran);
        EXPECT_TRUE(s.runs_on);
        EXPECT_EQ(instructions(s), kEpoch);
    }
    all_of(0);
    epochs_.finish();
    EXPECT_EQ(instructions(closed(1).streams[0]), kEpoch);
    EXPECT_FALSE(closed(1).streams[1].ran);
    EXPECT_EQ(closed(1).mark, Mark::exit);
}

TEST_F(EpochsTest, ASliceIsOverWithTheLastInstructionOfTheShare) {
    begin(0);
    execute(0, kEpoch - 1);
    EXPECT_FALSE(epochs_.slice_over(vcpu(0)));
    execute(0, 1);
    EXPECT_TRUE(epochs_.slice_over(vcpu(0)));
}

TEST_F(EpochsTest, AShortSliceIsFollowedByOthersOfTheSameEpoch) {
    slice(0, 10);  // PAUSE
    all_of(1);
    all_of(2);
    EXPECT_EQ(closed(), 0U);
    slice(0, 20);
    EXPECT_EQ(closed(), 0U);
    slice(0, kEpoch - 30);
    ASSERT_EQ(closed(), 1U);
    EXPECT_EQ(instructions(closed(0).streams[0]), kEpoch);
}

TEST_F(EpochsTest, AProcessorWithoutInstructionsLeftIsSkipped) {
    all_of(0);
    slice(1, 10);
    const auto begins = time_.begins;
    EXPECT_FALSE(begin(0));
    EXPECT_EQ(time_.begins, begins) << "its clock is not set";
    EXPECT_TRUE(begin(1));
    EXPECT_EQ(closed(), 0U);
}

TEST_F(EpochsTest, AProcessorThatExecutedMoreThanTheOthersBeginsTheNextEpochLater) {
    slice(0, kEpoch + 30);  // the last block was long
    all_of(1);
    all_of(2);
    ASSERT_EQ(closed(), 1U);
    begin(0);
    execute(0, kEpoch - 21);  // 30 - 10, the mean
    EXPECT_FALSE(epochs_.slice_over(vcpu(0)));
    execute(0, 1);
    EXPECT_TRUE(epochs_.slice_over(vcpu(0)));
    begin(1);
    execute(1, kEpoch + 9);
    EXPECT_FALSE(epochs_.slice_over(vcpu(1)));
    execute(1, 1);
    EXPECT_TRUE(epochs_.slice_over(vcpu(1)));
}

TEST_F(EpochsTest, AnEpochThatEndsEarlyLeavesTheDifferencesOnly) {
    slice(0, 400);
    slice(1, 100);
    slice(2, 100);
    epochs_.mark(Mark::none);
    begin(0);
    execute(0, kEpoch - 201);
    EXPECT_FALSE(epochs_.slice_over(vcpu(0)));
    execute(0, 1);
    EXPECT_TRUE(epochs_.slice_over(vcpu(0)));
}

// --- shares by pace ---

class ShareTest : public EpochsTest {
protected:
    /// The share of the first processor in the next epoch, with this pace and lead in cycles.
    std::uint64_t share(std::uint64_t busy, std::uint64_t instructions, std::int64_t lead = 0) {
        sink_.known_.paces[0] = {busy * TimingMerger::kUnit, instructions * TimingMerger::kUnit,
                                 lead * TimingMerger::kUnit};
        epochs_.mark(Mark::none);
        return vcpu(0).share.end() - vcpu(0).instructions;
    }
};

TEST_F(ShareTest, ASlowProcessorExecutesFewerInstructions) {
    EXPECT_EQ(share(100, 100), 1'000U);
    EXPECT_EQ(share(200, 100), 500U);
    EXPECT_EQ(share(800, 100), 125U);
}

TEST_F(ShareTest, NoProcessorIsFasterThanTheBaseCpi) {
    EXPECT_EQ(share(50, 100), 1'000U);
}

TEST_F(ShareTest, AnUnknownPaceIsTwiceTheBaseCpi) {
    EXPECT_EQ(share(0, 0), 500U);
}

TEST_F(ShareTest, TheSlowestProcessorExecutesOneInstruction) {
    EXPECT_EQ(share(1'000'000, 100), 1U);
}

TEST_F(ShareTest, HalfOfAnUnexpectedLeadIsMadeUpAtOnce) {
    EXPECT_EQ(share(200, 100, 400), 400U);
}

TEST_F(ShareTest, AProcessorThatIsBehindGetsMore) {
    EXPECT_EQ(share(200, 100, -400), 600U);
}

TEST_F(ShareTest, ALeadHasBounds) {
    EXPECT_EQ(share(200, 100, 1'000'000), 0U) << "it is skipped";
    EXPECT_EQ(share(400, 100, -3'000'000), 500U) << "two epochs";
}

TEST_F(ShareTest, AWholeShareLastsAnEpoch) {
    for (const std::uint64_t busy : {100U, 200U, 500U}) {
        const std::uint64_t instructions = share(busy, 100);
        const Share& s = vcpu(0).share;
        EXPECT_EQ(s.time(vcpu(0).instructions), 0);
        EXPECT_EQ(s.time(vcpu(0).instructions + instructions), kEpoch * TimingMerger::kUnit);
    }
}

// --- epochs that end early ---

TEST_F(EpochsTest, AProcessorThatQemuDoesNotRunIsNotWaitedForWithoutEnd) {
    all_of(0);
    all_of(1);  // the third one sleeps, but not by HLT
    for (unsigned i = 0; i < kProcessors; ++i) {
        EXPECT_FALSE(begin(0));
        EXPECT_FALSE(begin(1));
    }
    EXPECT_EQ(closed(), 0U);
    EXPECT_TRUE(begin(0));
    ASSERT_EQ(closed(), 1U);
    EXPECT_FALSE(closed(0).streams[2].ran);
    EXPECT_TRUE(closed(0).streams[2].runs_on);
}

TEST_F(EpochsTest, SkippedProcessorsAreCountedAnewAfterATimeSlice) {
    all_of(0);
    for (unsigned i = 0; i < 5; ++i) {
        EXPECT_FALSE(begin(0));
        EXPECT_FALSE(begin(0));
        slice(1, 10);
    }
    EXPECT_EQ(closed(), 0U);
}

TEST_F(EpochsTest, AFullStreamEndsTheEpochBeforeTheNextBlock) {
    begin(1);
    for (unsigned i = 0; i < kFits; ++i) {
        execute(1, 10);
        epochs_.add(vcpu(1), model::Event::access(model::Kind::load, i));
    }
    EXPECT_FALSE(epochs_.slice_over(vcpu(1)));
    execute(1, 10);
    epochs_.add(vcpu(1), model::Event::access(model::Kind::load, 98));
    epochs_.add(vcpu(1), model::Event::access(model::Kind::store, 99));  // of the same block
    EXPECT_TRUE(epochs_.slice_over(vcpu(1)));
    EXPECT_EQ(vcpu(1).check_at, 0U) << "asks for the end";
    EXPECT_EQ(closed(), 0U);
    epochs_.end_slice();
    ASSERT_EQ(closed(), 1U);
    EXPECT_EQ(events(0, 1).size(), kFits + 2);
    EXPECT_EQ(event(0, 1, kFits).line, 98U);
    EXPECT_EQ(event(0, 1, kFits + 1).line, 99U);
    EXPECT_EQ(event(0, 1, kFits + 1).delta, 0U);
    begin(1);
    EXPECT_FALSE(epochs_.slice_over(vcpu(1)));
}

TEST_F(EpochsTest, AFullStreamEndsTheEpochIfQemuEndsTheSlice) {
    begin(0);
    execute(0, 10);
    for (unsigned i = 0; i <= kFits; ++i) {
        epochs_.add(vcpu(0), model::Event::access(model::Kind::load, i));
    }
    begin(1);
    ASSERT_EQ(closed(), 1U);
    EXPECT_EQ(events(0, 0).size(), kFits + 1);
    EXPECT_FALSE(closed(0).streams[1].ran);
}

TEST_F(EpochsTest, ALongDeltaIsCarriedByPasses) {
    begin(0);
    execute(0, 100'000);
    epochs_.add(vcpu(0), model::Event::access(model::Kind::ifetch, 7));
    epochs_.finish();
    ASSERT_EQ(events(0, 0).size(), 4U);
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(event(0, 0, i).op, Op::pass);
        EXPECT_EQ(event(0, 0, i).delta, 32'767U);
    }
    EXPECT_EQ(event(0, 0, 3).op, Op::ifetch);
    EXPECT_EQ(event(0, 0, 3).line, 7U);
    EXPECT_EQ(instructions(closed(0).streams[0]), 100'000U);
}

TEST_F(EpochsTest, TheLongestDeltaIsOneEvent) {
    begin(0);
    execute(0, 32'767);
    epochs_.add(vcpu(0), model::Event::access(model::Kind::ifetch, 7));
    epochs_.finish();
    EXPECT_EQ(events(0, 0).size(), 1U);
}

TEST_F(EpochsTest, ALongDeltaThatDoesNotFitIsRecordedWhole) {
    begin(0);
    epochs_.add(vcpu(0), model::Event::access(model::Kind::load, 1));
    epochs_.add(vcpu(0), model::Event::access(model::Kind::load, 2));
    execute(0, 200'000);
    epochs_.add(vcpu(0), model::Event::access(model::Kind::load, 3));
    epochs_.finish();
    EXPECT_EQ(events(0, 0).size(), 2U + 6U + 1U);
    EXPECT_EQ(instructions(closed(0).streams[0]), 200'000U);
}

// --- statistics ---

TEST_F(EpochsTest, AMarkIsOfTheFirstEpochThatEndsAfterItIsDue) {
    epochs_.transaction_end(2, 0, false);
    epochs_.begin_load();
    EXPECT_EQ(closed(0).mark, Mark::load_begin);
    EXPECT_EQ(closed(0).transactions[2][0], 1U);
    epoch();
    ASSERT_EQ(closed(), 2U);
    EXPECT_EQ(closed(1).mark, Mark::measure_begin);
    EXPECT_TRUE(epochs_.measuring());
    epoch();
    EXPECT_EQ(closed(2).mark, Mark::none);
    epoch();
    EXPECT_EQ(closed(3).mark, Mark::interval);
    EXPECT_EQ(closed(3).index, 2U);
    epoch();
    epoch();
    EXPECT_EQ(closed(5).mark, Mark::measure_end);
}

TEST_F(EpochsTest, AProgramsRegionEndsTheEpochAtOnce) {
    begin(0);
    execute(0, 10);
    epochs_.mark(Mark::measure_begin);
    execute(0, 20);
    epochs_.mark(Mark::measure_end);
    ASSERT_EQ(closed(), 2U);
    EXPECT_EQ(closed(0).mark, Mark::measure_begin);
    EXPECT_EQ(closed(0).instructions, 10U);
    EXPECT_EQ(closed(1).mark, Mark::measure_end);
    EXPECT_EQ(closed(1).instructions, 30U);
}

TEST_F(EpochsTest, AClientThatFinishedOftenIsCountedOnce) {
    epochs_.begin_load();
    EXPECT_EQ(closed(0).clients_finished, 0U);
    for (const std::uint64_t client : {5U, 7U, 5U}) {
        epochs_.transaction_end(0, client, false);
    }
    slice(0, 1);
    epochs_.finish();
    EXPECT_EQ(closed(1).clients_finished, 2U);
    EXPECT_EQ(epochs_.state().totals.finished, (std::set<std::uint64_t>{5, 7}));
}

TEST_F(EpochsTest, CountsBelongToTheEpochInWhichTheyWereMade) {
    begin(0);
    execute(0, 4);
    vcpu(0).counts.accesses[1] = 3;
    vcpu(0).set_context(model::Context(2));
    execute(0, 6);
    epochs_.begin_load();
    execute(0, 5);
    epochs_.finish();
    EXPECT_EQ(closed(0).streams[0].instructions[0], 4U);
    EXPECT_EQ(closed(0).streams[0].accesses[0][1], 3U);
    EXPECT_EQ(closed(0).streams[0].instructions[2], 6U);
    EXPECT_EQ(closed(1).streams[0].instructions[2], 5U);
    EXPECT_EQ(closed(1).streams[0].accesses[0][1], 0U);
}

TEST_F(EpochsTest, SlicesAreCountedByTheirLength) {
    slice(0, 127);
    slice(1, 128);
    begin(2);  // QEMU ends it before its first block
    epochs_.finish();
    const model::SliceCounts& counts = closed(0).slices;
    EXPECT_EQ(counts.slices[6], 1U);
    EXPECT_EQ(counts.instructions[6], 127U);
    EXPECT_EQ(counts.slices[7], 1U);
    EXPECT_EQ(counts.instructions[7], 128U);
    EXPECT_EQ(counts.slices[0], 1U);
    EXPECT_EQ(counts.instructions[0], 0U);
}

TEST_F(EpochsTest, SkippedProcessorsHaveNoSlice) {
    all_of(0);
    EXPECT_FALSE(begin(0));
    EXPECT_FALSE(begin(0));
    epochs_.finish();
    const auto& slices = closed(0).slices.slices;
    EXPECT_EQ(std::accumulate(slices.begin(), slices.end(), std::uint64_t{0}), 1U);
}

TEST_F(EpochsTest, ASliceThatAnEpochDividesIsOneSlice) {
    begin(0);
    execute(0, 100);
    epochs_.mark(Mark::measure_begin);
    execute(0, 100);
    epochs_.finish();
    EXPECT_EQ(closed(1).slices.instructions[7], 200U);
}

TEST_F(EpochsTest, ARestoredGuestSleepsOnAndItsLoadHasBegun) {
    Epochs::State state = running_clock();
    state.sleeping = model::CoreSet::of_word(0b101);
    state.totals.began = true;
    state.totals.instructions = 1'000'000;
    VcpuList vcpus = bound_lanes();
    Epochs restored(machine_, model::TimeRules::of_recorder(machine_), vcpus, sink_, page_, time_, round_,
                    kLines, 0, Schedule(0, 0, 1'000), state);
    EXPECT_NE(vcpus[0]->attention & kHalted, 0U);
    EXPECT_EQ(vcpus[1]->attention & kHalted, 0U);
    EXPECT_NE(vcpus[2]->attention & kHalted, 0U);
    EXPECT_TRUE(restored.begin_slice(*vcpus[1]));
    vcpus[1]->instructions += 1'000;
    restored.end_slice();
    ASSERT_EQ(closed(), 1U);
    EXPECT_EQ(closed(0).mark, Mark::interval);
    EXPECT_EQ(closed(0).instructions, 1'001'000U);
}

TEST_F(EpochsTest, ARestoredGuestThatSleptEndsItsGap) {
    Epochs::State state = running_clock();
    state.time.clock.origin = 40'000;
    state.sleeping = model::CoreSet::below(3);
    state.time.gap_pending = true;
    sink_.known_.clock_ns = 2'000;
    time_.ns = 42'000;
    VcpuList vcpus = bound_lanes();
    Epochs restored(machine_, model::TimeRules::of_recorder(machine_), vcpus, sink_, page_, time_, round_,
                    kLines, 0, Schedule(0, 0, 1'000), state);
    time_.ns += 300;
    EXPECT_TRUE(restored.begin_slice(*vcpus[1]));
    EXPECT_EQ(time_.begins.back(), 42'300);
    restored.finish();
    EXPECT_EQ(closed(0).idle_before_ns, 300U);
}

TEST(FilterKey, OfAnotherIntervalMatchesNothing) {
    FilterKey key;
    key.begin();
    const std::uint64_t before = key(7);
    EXPECT_NE(before, key(8));
    EXPECT_NE(before, 0U);
    EXPECT_TRUE(key.next());
    EXPECT_NE(key(7), before);
}

TEST(FilterKey, SaysWhenTheNumberOfTheIntervalComesRound) {
    FilterKey key;
    key.begin();
    const std::uint64_t first = key(0);
    std::uint64_t intervals = 1;
    while (key.next()) {
        ASSERT_NE(key(0), first);
        ++intervals;
    }
    EXPECT_EQ(intervals, (1U << 23) - 1) << "the bits above 41, without the number 0";
    EXPECT_EQ(key(0), first) << "a key that an entry may still hold";
}

}  // namespace s80::plugin
