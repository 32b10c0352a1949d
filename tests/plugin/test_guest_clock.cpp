// SPDX-License-Identifier: GPL-2.0-or-later
// What the guest sees of simulated time.
#include "plugin/guest_clock.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "fakes.h"

namespace s80::plugin {

namespace {

constexpr std::int64_t kLongAgo = 1'000'000'000;

}  // namespace

class GuestClockTest : public ::testing::Test {
protected:
    FakeTime time;
    GuestClock clock{time, 0, {}};
    std::int64_t last = 0;  ///< the latest time of a processor

    /// The clock runs, and virtual time is simulated time.
    void started() { clock.start(0); }
};

TEST_F(GuestClockTest, BeforeTheStartVirtualTimeIsNotSet) {
    clock.begin_epoch(5'000, 0);
    clock.begin_slice(10, last);
    clock.end_slice(10);
    clock.sleep(10);
    EXPECT_FALSE(clock.runs());
    EXPECT_TRUE(time.begins.empty());
    EXPECT_TRUE(time.ends.empty());
    EXPECT_EQ(last, 0);
}

TEST_F(GuestClockTest, TheStartGoesOnFromVirtualTime) {
    time.ns = 70'000;
    clock.start(2'000);
    EXPECT_TRUE(clock.runs());
    EXPECT_EQ(clock.epoch(), 2'000);
    EXPECT_EQ(clock.state().origin, 68'000);
    clock.begin_slice(30, last);
    EXPECT_EQ(time.begins, std::vector<std::int64_t>{70'030});
    EXPECT_EQ(last, 2'030);
}

TEST_F(GuestClockTest, AReadWithinASliceShowsTheProcessorsTime) {
    started();
    clock.begin_slice(100, last);
    time.ns += 20;  // QEMU counts a nanosecond per instruction
    clock.read(150, 20, last);
    EXPECT_EQ(time.ns, 150);
    time.ns += 30;
    clock.read(160, 50, last);
    EXPECT_EQ(time.ns, 180) << "the clock does not go back";
    clock.ran(60, last);
    EXPECT_EQ(last, 190);
}

TEST_F(GuestClockTest, ARestoredClockKeepsItsOrigin) {
    GuestClock restored(time, 0, {true, 68'000});
    restored.begin_epoch(2'000, 500);
    restored.begin_slice(30, last);
    EXPECT_EQ(time.begins, std::vector<std::int64_t>{70'530});
}

TEST_F(GuestClockTest, AnEpochBeginsAtTheKnownTimeAndWhatFollowed) {
    started();
    clock.begin_epoch(5'000, 1'200);
    EXPECT_EQ(clock.epoch(), 6'200);
}

TEST_F(GuestClockTest, AnEpochNeverBeginsBeforeTheLastOne) {
    started();
    clock.begin_epoch(5'000, 1'200);
    clock.begin_epoch(5'100, 1'000);  // the prediction was too long
    EXPECT_EQ(clock.epoch(), 6'200);
    clock.begin_epoch(5'300, 1'000);
    EXPECT_EQ(clock.epoch(), 6'300);
}

TEST_F(GuestClockTest, AProcessorsClockNeverGoesBack) {
    started();
    clock.begin_epoch(1'000, 0);
    clock.begin_slice(900, last);
    clock.begin_epoch(1'500, 0);
    clock.begin_slice(100, last);
    clock.begin_slice(500, last);
    EXPECT_EQ(time.begins, (std::vector<std::int64_t>{1'900, 1'900, 2'000}));
    EXPECT_EQ(last, 2'000);
}

TEST_F(GuestClockTest, ATimeSliceBeginsAfterTheLastOneOfItsProcessor) {
    started();
    clock.begin_slice(30, last);
    clock.ran(500, last);
    EXPECT_EQ(last, 530);
    clock.begin_slice(200, last);
    EXPECT_EQ(time.begins.back(), 530);
}

TEST_F(GuestClockTest, EachProcessorHasItsOwnClock) {
    started();
    std::int64_t other = 0;
    clock.begin_slice(900, last);
    clock.begin_slice(100, other);
    EXPECT_EQ(time.begins, (std::vector<std::int64_t>{900, 100}));
}

TEST_F(GuestClockTest, ATimerThatIsDueFiresAtTheBeginningOfTheEpoch) {
    started();
    clock.begin_epoch(5'000, 0);
    for (const std::int64_t due : {4'000, 5'000}) {
        clock.begin_slice(700, last);
        time.timer = due;
        clock.end_slice(40);
        EXPECT_EQ(time.ends.back(), (FakeTime::End{5'000, 40})) << due;
    }
}

TEST_F(GuestClockTest, ATimerThatIsNotDueLeavesVirtualTimeLongAgo) {
    started();
    clock.begin_epoch(5'000, 0);
    for (const std::int64_t due : {5'001, 5'700, 900'000}) {
        clock.begin_slice(700, last);
        time.timer = due;
        clock.end_slice(40);
        EXPECT_EQ(time.ends.back(), (FakeTime::End{5'000 - kLongAgo, 40})) << due;
    }
}

TEST_F(GuestClockTest, TheNextTimeSliceEndsThePast) {
    started();
    clock.begin_epoch(5'000, 0);
    clock.end_slice(40);
    ASSERT_LT(time.now(), 0);
    clock.begin_slice(40, last);
    EXPECT_EQ(time.now(), 5'040);
}

TEST_F(GuestClockTest, WhenAllSleepVirtualTimeIsTheBeginningOfTheEpoch) {
    started();
    clock.begin_epoch(5'000, 0);
    clock.begin_slice(700, last);
    time.timer = 900'000;
    clock.sleep(40);
    EXPECT_EQ(time.ends, (std::vector<FakeTime::End>{{5'000, 40}}));
}

TEST_F(GuestClockTest, AGapMovesTheEpoch) {
    started();
    clock.begin_epoch(5'000, 0);
    clock.sleep(40);
    time.ns += 3'000;  // QEMU: the next timer
    EXPECT_EQ(clock.end_gap(), 3'000);
    EXPECT_EQ(clock.epoch(), 8'000);
    clock.begin_slice(0, last);
    EXPECT_EQ(time.begins.back(), 8'000) << "when the timer was due";
}

TEST_F(GuestClockTest, WithoutAGapTheEpochStays) {
    started();
    clock.begin_epoch(5'000, 0);
    clock.sleep(40);
    EXPECT_EQ(clock.end_gap(), 0);
    time.ns = 5'000 - kLongAgo;
    EXPECT_EQ(clock.end_gap(), 0);
    EXPECT_EQ(clock.epoch(), 5'000);
}

class ShiftedClockTest : public ::testing::Test {
protected:
    FakeTime time;
    GuestClock clock{time, 2, {}};  // 4 ns of the guest are one simulated
    std::int64_t last = 0;

    void SetUp() override {
        time.ns = 100;
        clock.start(1'000);
    }
};

TEST_F(ShiftedClockTest, TheGuestsSecondIsLongerByAPowerOfTwo) {
    clock.begin_slice(30, last);
    EXPECT_EQ(time.now(), 100 + 4 * 30);
    EXPECT_EQ(last, 1'030);
    clock.begin_epoch(2'000, 500);
    clock.begin_slice(0, last);
    EXPECT_EQ(time.now(), 100 + 4 * 1'500);
}

TEST_F(ShiftedClockTest, TimersAreComparedInTheGuestsTime) {
    clock.begin_epoch(2'000, 0);
    time.timer = 100 + 4 * 1'000;
    clock.end_slice(1);
    EXPECT_EQ(time.now(), 100 + 4 * 1'000);
    time.timer += 1;
    clock.end_slice(1);
    EXPECT_EQ(time.now(), 100 + 4 * 1'000 - kLongAgo);
}

TEST_F(ShiftedClockTest, AnInstructionIsANanosecondOfTheGuest) {
    clock.begin_slice(100, last);
    clock.ran(401, last);
    EXPECT_EQ(last, 1'100 + 101) << "rounded up";
}

TEST_F(ShiftedClockTest, AGapEndsNotBeforeItsTimer) {
    clock.sleep(1);
    time.ns += 4 * 50 + 1;
    const std::int64_t timer = time.ns;
    EXPECT_EQ(clock.end_gap(), 51);
    clock.begin_slice(0, last);
    EXPECT_GE(time.now(), timer);
    EXPECT_EQ(time.now(), 100 + 4 * 51);
}

/// Whatever the predictions are worth: no processor's clock goes back, and none is before the epoch.
TEST(GuestClock, NoClockGoesBack) {
    EXPECT_TRUE(rc::check([] {
        FakeTime time;
        GuestClock clock(time, *rc::gen::inRange(0U, 3U), {});
        clock.start(*rc::gen::inRange(0U, 1'000'000U));
        std::vector<std::int64_t> last(3, 0);
        std::vector<std::int64_t> shown(3, time.now());
        const auto steps =
            *rc::gen::container<std::vector<std::tuple<unsigned, unsigned, unsigned>>>(rc::gen::tuple(
                rc::gen::inRange(0U, 5U), rc::gen::inRange(0U, 2'000'000U), rc::gen::inRange(0U, 20'000U)));
        for (const auto& [what, known, ns] : steps) {
            const std::int64_t epoch = clock.epoch();
            if (what == 3) {
                clock.begin_epoch(known, ns);
            } else if (what == 4) {
                clock.sleep(ns);
                time.ns += ns;
                const std::int64_t timer = time.ns;
                clock.end_gap();
                clock.begin_slice(0, last[0]);
                RC_ASSERT(time.now() >= timer);
                shown[0] = std::max(shown[0], time.now());
            } else {
                clock.begin_slice(ns, last[what]);
                RC_ASSERT(time.now() >= shown[what]);
                shown[what] = time.now();
                RC_ASSERT(last[what] >= epoch);
                clock.end_slice(ns);
            }
            RC_ASSERT(clock.epoch() >= epoch);
        }
    }));
}

}  // namespace s80::plugin
