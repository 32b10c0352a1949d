// SPDX-License-Identifier: GPL-2.0-or-later
// Processors that sleep: interrupts and timers that wake them, and gaps in which all sleep.
#include "epochs_fixture.h"

namespace s80::plugin {

using model::Mark;
using model::Op;
using model::TimingMerger;

TEST_F(EpochsTest, ASleeperIsNotWaitedFor) {
    sleep(0, 10);
    all_of(1);
    EXPECT_EQ(closed(), 0U);
    all_of(2);
    ASSERT_EQ(closed(), 1U);
    EXPECT_TRUE(closed(0).streams[0].ran);
    EXPECT_FALSE(closed(0).streams[0].runs_on);
    EXPECT_TRUE(closed(0).streams[1].runs_on);
}

TEST_F(EpochsTest, TheLastWithInstructionsLeftEndsTheEpochBySleeping) {
    all_of(1);
    all_of(2);
    sleep(0, 10);
    ASSERT_EQ(closed(), 1U);
    EXPECT_FALSE(closed(0).streams[0].runs_on);
    EXPECT_EQ(time_.ends.back().instructions, 10U);
}

TEST_F(EpochsTest, OfProcessorsThatTimersWokeTheEarliestExecutes) {
    sleep(0, 10);
    sleep(1, 20);
    slice(0, 100);
    slice(1, 10);
    EXPECT_FALSE(begin(0)) << "processor 1 is the earlier one";
    EXPECT_TRUE(begin(1));
}

TEST_F(EpochsTest, AnInterruptOfTheSameEpochIsWaitedFor) {
    sleep(1, 10);
    begin(2);
    execute(2, 10);
    epochs_.interrupt(vcpu(2), vcpu(1));
    begin(1);
    epochs_.finish();
    EXPECT_EQ(closed(0).signals, 1U);
    EXPECT_EQ(event(0, 2, 0).op, Op::signal);
    EXPECT_EQ(event(0, 2, 0).line, 0U);
    EXPECT_EQ(event(0, 1, 0).op, Op::wait);
    EXPECT_EQ(event(0, 1, 0).line, 0U);
    EXPECT_EQ(event(0, 1, 0).delta, 10U);
}

TEST_F(EpochsTest, AnInterruptOfAnEarlierEpochIsNotWaitedFor) {
    sleep(1, 10);
    all_of(0);
    begin(2);
    epochs_.interrupt(vcpu(2), vcpu(1));
    execute(2, kEpoch);
    epochs_.end_slice();
    ASSERT_EQ(closed(), 1U);
    begin(1);
    epochs_.finish();
    EXPECT_EQ(closed(0).signals, 1U);
    EXPECT_FALSE(closed(0).streams[1].runs_on);
    EXPECT_TRUE(events(1, 1).empty());
}

TEST_F(EpochsTest, OneInterruptWakesAndTheNextIsNotRecorded) {
    sleep(0, 1);
    begin(1);
    epochs_.interrupt(vcpu(1), vcpu(0));
    epochs_.interrupt(vcpu(1), vcpu(0));  // it is on its way already
    epochs_.interrupt(vcpu(1), vcpu(2));  // it is awake
    epochs_.finish();
    EXPECT_EQ(closed(0).signals, 1U);
    EXPECT_EQ(events(0, 1).size(), 1U);
}

TEST_F(EpochsTest, AFullEpochTakesAnInterruptAndItsReceiverWakesInTheNextOne) {
    sleep(0, 1);
    begin(1);
    for (unsigned i = 0; i < kFits; ++i) {
        epochs_.add(vcpu(1), model::Event::access(model::Kind::load, i));
    }
    epochs_.interrupt(vcpu(1), vcpu(0));
    EXPECT_EQ(closed(), 0U);
    epochs_.end_slice();
    ASSERT_EQ(closed(), 1U);
    begin(0);
    epochs_.finish();
    EXPECT_EQ(event(0, 1, kFits).op, Op::signal);
    EXPECT_EQ(closed(0).signals, 1U);
    EXPECT_TRUE(events(1, 0).empty()) << "the interrupt was sent before this epoch";
}

/// In the second epoch, which begins at 1,000 ns.
class WakeTest : public EpochsTest {
protected:
    void SetUp() override { epoch(); }
    /// Instructions that a processor has left in this epoch.
    std::int64_t left(unsigned processor) {
        return static_cast<std::int64_t>(vcpu(processor).share.end() - vcpu(processor).instructions);
    }
    /// The first processor sends an interrupt after so many instructions of the epoch.
    void interrupt(unsigned target, std::uint64_t after) {
        begin(0);
        execute(0, after);
        epochs_.interrupt(vcpu(0), vcpu(target));
        epochs_.end_slice();
    }
};

TEST_F(WakeTest, ATimerWakesAtTheBeginningOfTheEpoch) {
    sleep(1, 0);
    slice(0, 400);
    EXPECT_TRUE(begin(1));
    EXPECT_EQ(left(1), 1'000);
    EXPECT_EQ(time_.begins.back(), 1'000);
}

TEST_F(WakeTest, AnInterruptWakesAtTheTimeOfItsSender) {
    sleep(1, 0);
    interrupt(1, 400);
    EXPECT_TRUE(begin(1));
    EXPECT_NEAR(left(1), 600, 1);
    EXPECT_NEAR(static_cast<double>(time_.begins.back()), 1'400, 1);
}

TEST_F(WakeTest, AnInterruptAtTheEndOfTheEpochLeavesNothing) {
    sleep(1, 0);
    begin(2);
    execute(2, kEpoch + 20);
    epochs_.interrupt(vcpu(2), vcpu(1));
    epochs_.end_slice();
    EXPECT_FALSE(begin(1));
    EXPECT_EQ(left(1), 0);
}

TEST_F(WakeTest, ASlowProcessorIsWokenAtTheTimeOfItsSender) {
    sink_.known_.paces[1] = {4 * TimingMerger::kUnit, TimingMerger::kUnit, 0};
    epochs_.mark(Mark::none);
    sleep(1, 0);
    sleep(2, 0);
    all_of(0);
    interrupt(1, 400);
    EXPECT_TRUE(begin(1));
    EXPECT_NEAR(left(1), 150, 1) << "600 ns";
}

TEST_F(WakeTest, WhoeverFellAsleepLaterThanTheInterruptGoesOnFromThere) {
    sleep(1, 700);
    interrupt(1, 100);
    EXPECT_TRUE(begin(1));
    EXPECT_NEAR(left(1), 300, 1);
    EXPECT_NEAR(static_cast<double>(time_.begins.back()), 1'700, 1);
}

TEST_F(WakeTest, ATimerDoesNotGiveAnotherShare) {
    sleep(1, 700);
    slice(0, 400);
    EXPECT_TRUE(begin(1));
    EXPECT_NEAR(left(1), 300, 1);
}

TEST_F(WakeTest, ALongSleepSavesNoInstructions) {
    sleep(1, 10);
    for (int epoch = 0; epoch < 5; ++epoch) {
        all_of(0);
        all_of(2);
    }
    EXPECT_EQ(closed(), 6U);
    EXPECT_TRUE(begin(1));
    EXPECT_EQ(left(1), 1'000);
}

// --- gaps: all processors sleep ---

class GapTest : public EpochsTest {
protected:
    void all_sleep() {
        for (unsigned p = 0; p < kProcessors; ++p) {
            sleep(p, 100);
        }
    }
};

TEST_F(GapTest, WhenAllSleepTheEpochEndsAndTheGapIsTheNextOnes) {
    EXPECT_FALSE(epochs_.state().time.gap_pending);
    all_sleep();
    ASSERT_EQ(closed(), 1U);
    EXPECT_TRUE(epochs_.state().time.gap_pending);
    EXPECT_EQ(epochs_.state().sleeping, model::CoreSet::below(3));
    for (const model::Stream& s : closed(0).streams) {
        EXPECT_FALSE(s.runs_on);
    }
    time_.ns += 5'000;  // QEMU: the next timer
    begin(1);
    EXPECT_FALSE(epochs_.state().time.gap_pending);
    EXPECT_EQ(epochs_.state().sleeping, model::CoreSet::of_word(0b101));
    epochs_.finish();
    EXPECT_EQ(closed(0).idle_before_ns, 0U);
    EXPECT_EQ(closed(1).idle_before_ns, 5'000U);
    EXPECT_TRUE(closed(1).streams[1].runs_on);
    EXPECT_FALSE(closed(1).streams[0].runs_on);
}

TEST_F(GapTest, AGapBeginsAtTheEndOfTheEpoch) {
    all_sleep();
    EXPECT_EQ(time_.ends.back(), (FakeTime::End{100, 100}));
    time_.ns += 5'000;
    begin(1);
    EXPECT_EQ(time_.begins.back(), 5'100);
}

TEST_F(GapTest, AProcessorThatIsWokenAtOnceMakesNoGap) {
    all_sleep();
    begin(1);
    epochs_.finish();
    EXPECT_EQ(closed(1).idle_before_ns, 0U);
    EXPECT_EQ(time_.begins.back(), 100);
}

TEST_F(GapTest, GapsInFlightArePartOfTheTime) {
    all_sleep();
    time_.ns += 5'000;
    begin(1);
    execute(1, 100);
    epochs_.sleep(vcpu(1));
    ASSERT_EQ(closed(), 2U);
    EXPECT_EQ(time_.ends.back().ns, 100 + 5'000 + 100) << "simulated time is known up to the beginning only";
    time_.ns += 700;
    begin(1);
    execute(1, 100);
    sink_.known_.clock_ns = 100;  // after the first of the epochs
    epochs_.sleep(vcpu(1));
    EXPECT_EQ(time_.ends.back().ns, 100 + 5'000 + 100 + 700 + 100);
}

}  // namespace s80::plugin
