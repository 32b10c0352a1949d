// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's clock at the begin and the end of each time slice.
#include <vector>

#include "epochs_fixture.h"

namespace s80::plugin {

TEST_F(EpochsTest, ASliceBeginsAtTheProcessorsTime) {
    slice(0, 400);
    EXPECT_EQ(time_.begins, std::vector<std::int64_t>{0});
    EXPECT_EQ(time_.ends, (std::vector<FakeTime::End>{{-kLongAgo, 400}}));
    slice(1, 100);
    slice(0, 50);
    slice(1, 1);
    ASSERT_EQ(time_.begins.size(), 4U);
    EXPECT_EQ(time_.begins[1], 0);
    EXPECT_NEAR(static_cast<double>(time_.begins[2]), 400, 1);
    EXPECT_NEAR(static_cast<double>(time_.begins[3]), 100, 1);
    EXPECT_EQ(time_.ends[2].instructions, 50U);
}

TEST_F(EpochsTest, TheClockShowsAStallWithinTheSlice) {
    slice(0, 300);
    ASSERT_TRUE(begin(0));
    execute(0, 10);
    time_.ns += 10;
    vcpu(0).share.spend(200 * model::TimingMerger::kUnit);
    epochs_.read_clock(vcpu(0));
    EXPECT_EQ(time_.ns, 300 + 10 + 200);
}

TEST_F(EpochsTest, ASlicesEndIsToldOnce) {
    begin(0);
    execute(0, 10);
    epochs_.end_slice();
    epochs_.end_slice();
    EXPECT_EQ(time_.ends.size(), 1U);
}

TEST_F(EpochsTest, ATimerThatIsDueFiresBetweenSlices) {
    epoch();  // lasts 1,000 ns
    time_.timer = 900;
    slice(0, 10);
    EXPECT_EQ(time_.ends.back(), (FakeTime::End{1'000, 10}));
}

TEST_F(EpochsTest, AnEpochBeginsAfterThePredictedLengthsOfTheEpochsInFlight) {
    epoch();
    slice(0, 10);
    EXPECT_EQ(time_.begins.back(), 1'000);
    slice(0, kEpoch - 10);
    all_of(1);
    all_of(2);
    slice(0, 10);
    EXPECT_EQ(time_.begins.back(), 2'000);
    sink_.known_.clock_ns = 1'300;  // the first epoch was longer than predicted
    slice(0, kEpoch - 10);
    all_of(1);
    all_of(2);
    slice(0, 10);
    EXPECT_EQ(time_.begins.back(), 1'300 + 2 * 1'000);
}

TEST_F(EpochsTest, TheGuestsClockStandsUntilSimulatedTimeHasCaughtUp) {
    epoch();
    epoch();
    sink_.known_.clock_ns = 300;  // not 1,000
    epoch();
    slice(0, 10);
    EXPECT_EQ(time_.begins.back(), 3'000) << "the epoch began at 2,300, but this clock showed 3,000 before";
    sink_.known_.clock_ns = 0;
    slice(0, kEpoch - 10);
    all_of(1);
    all_of(2);
    slice(0, 10);
    EXPECT_GE(time_.begins.back(), 3'000);
}

TEST_F(EpochsTest, SleepersDoNotCountForTheLengthOfAnEpoch) {
    sleep(0, 10);
    all_of(1);
    all_of(2);
    slice(1, 1);
    EXPECT_EQ(time_.begins.back(), 1'000);
}

TEST_F(EpochsTest, AnEpochInWhichAllFallAsleepIsAsLongAsTheLast) {
    sleep(0, 10);
    sleep(1, 500);
    sleep(2, 20);
    ASSERT_EQ(closed(), 1U);
    begin(1);
    EXPECT_NEAR(static_cast<double>(time_.begins.back()), 500, 1);
}

class StartTest : public EpochsTest {
protected:
    StartTest() : EpochsTest(Epochs::State{}) {}
};

TEST_F(StartTest, BeforeTheClockStartsTheGuestsTimeIsNotSetAndSharesAreWithoutEnd) {
    slice(0, 10 * kEpoch);
    slice(1, 10);
    EXPECT_TRUE(begin(0));
    EXPECT_FALSE(epochs_.slice_over(vcpu(0)));
    EXPECT_EQ(closed(), 0U);
    EXPECT_TRUE(time_.begins.empty());
    EXPECT_TRUE(time_.ends.empty());
    EXPECT_FALSE(epochs_.state().time.clock.runs);
}

TEST_F(StartTest, BeforeTheClockStartsAWokenProcessorHasNoEndOfItsShareEither) {
    sleep(1, 10);
    begin(0);
    execute(0, 10);
    epochs_.interrupt(vcpu(0), vcpu(1));
    EXPECT_TRUE(begin(1));
    execute(1, 5 * kEpoch);
    EXPECT_FALSE(epochs_.slice_over(vcpu(1)));
}

TEST_F(StartTest, TheClockStartsWithTheNextSliceInAnEpochOfItsOwn) {
    slice(0, 10 * kEpoch);
    epochs_.start_clock();
    time_.ns = 123'000;
    EXPECT_EQ(closed(), 0U);
    EXPECT_TRUE(begin(1));
    EXPECT_EQ(closed(), 1U);
    EXPECT_TRUE(epochs_.state().time.clock.runs);
    EXPECT_EQ(epochs_.state().time.clock.origin, 123'000);
    EXPECT_GE(time_.begins.back(), 123'000);
    execute(1, kEpoch);
    EXPECT_TRUE(epochs_.slice_over(vcpu(1)));
}

}  // namespace s80::plugin
