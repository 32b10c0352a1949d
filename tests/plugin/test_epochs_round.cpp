// SPDX-License-Identifier: GPL-2.0-or-later
// Which processors are left out of QEMU's round.
#include <array>
#include <set>

#include "epochs_fixture.h"

namespace s80::plugin {

using model::Kind;

class RoundTest : public EpochsTest {
protected:
    void store(unsigned processor) {
        ASSERT_TRUE(begin(processor));
        execute(processor, 1);
        epochs_.access(vcpu(processor), 70, Kind::store);
        epochs_.end_slice();
    }
    /// Processors 0 and 1 contend, and processor 1 is the earlier one. Processor 2 has nothing left and stays
    /// in the round.
    void contend() {
        all_of(2);
        EXPECT_FALSE(begin(2));
        store(0);
        store(1);
        store(0);
    }
    const std::set<unsigned>& out() const { return round_.out; }
    using Set = std::set<unsigned>;
};

TEST_F(RoundTest, AllSkippedProcessorsButOneAreLeftOutUntilTheEpochEnds) {
    all_of(0);
    all_of(1);
    EXPECT_EQ(out(), Set{}) << "a processor is left out where it would be skipped";
    EXPECT_FALSE(begin(1));
    EXPECT_EQ(out(), Set{}) << "the first one stays";
    EXPECT_FALSE(begin(0));
    EXPECT_FALSE(begin(1));
    EXPECT_EQ(out(), Set{0});
    all_of(2);
    EXPECT_EQ(closed(), 1U);
    EXPECT_EQ(out(), Set{});
    all_of(0);
    EXPECT_FALSE(begin(0));
    EXPECT_EQ(out(), Set{}) << "another one stays in the next epoch";
}

TEST_F(RoundTest, TheOneThatStaysEndsTheEpochIfQemuRunsNobodyElse) {
    all_of(0);
    all_of(1);
    EXPECT_FALSE(begin(0));
    EXPECT_FALSE(begin(1));
    EXPECT_EQ(out(), Set{1});
    for (unsigned i = 0; i < 2 * kProcessors - 2; ++i) {
        EXPECT_FALSE(begin(0));
    }
    EXPECT_TRUE(begin(0));
    EXPECT_EQ(closed(), 1U);
    EXPECT_EQ(out(), Set{});
}

TEST_F(RoundTest, AContenderIsLeftOutUntilItsTurn) {
    contend();
    EXPECT_FALSE(begin(0));
    EXPECT_EQ(out(), Set{0});
    slice(1, 1);
    EXPECT_EQ(out(), Set{0}) << "processor 1 is still earlier";
    turn(1);
    epochs_.end_slice();
    EXPECT_EQ(out(), Set{});
    EXPECT_TRUE(begin(0));
}

TEST_F(RoundTest, AContenderIsTakenInIfQemuEndsTheSliceOfTheOther) {
    contend();
    EXPECT_FALSE(begin(0));
    turn(1);
    EXPECT_FALSE(begin(2)) << "QEMU goes on to the next processor";
    EXPECT_EQ(out(), Set{});
}

TEST_F(RoundTest, AContenderStaysOutWhileAnEarlierOnePolls) {
    contend();
    EXPECT_FALSE(begin(0));
    ASSERT_TRUE(begin(1));
    execute(1, 1);
    epochs_.pause(vcpu(1));
    EXPECT_EQ(out(), Set{0});
}

TEST_F(RoundTest, AContenderIsTakenInIfThePollsOfTheOtherAreCounted) {
    contend();
    EXPECT_FALSE(begin(0));
    EXPECT_EQ(out(), Set{0});
    const std::array<std::uint8_t, 256> registers{};
    ASSERT_TRUE(epochs_.begin_slice(vcpu(1), registers.data()));
    vcpu(1).begin_loop(registers.data());
    execute(1, 1);
    epochs_.access(vcpu(1), 71, Kind::load);
    epochs_.end_slice();
    EXPECT_EQ(out(), Set{0}) << "processor 1 is still earlier";
    EXPECT_FALSE(epochs_.begin_slice(vcpu(1), registers.data())) << "the loop repeats itself";
    EXPECT_EQ(closed(), 0U);
    EXPECT_EQ(out(), Set{1});
    EXPECT_TRUE(begin(0));
}

TEST_F(RoundTest, AContenderIsTakenInIfTheOtherSleeps) {
    contend();
    EXPECT_FALSE(begin(0));
    EXPECT_EQ(out(), Set{0});
    sleep(1, 1);
    EXPECT_EQ(out(), Set{});
}

TEST_F(RoundTest, IfNobodyStaysASleepTakesAllIn) {
    store(0);
    store(1);
    store(0);
    EXPECT_FALSE(begin(0));
    all_of(2);
    EXPECT_FALSE(begin(2));
    EXPECT_EQ(out(), Set{2}) << "processor 0 stays";
    turn(1);
    epochs_.end_slice();
    ASSERT_TRUE(begin(0)) << "its turn: it stays no longer";
    EXPECT_EQ(out(), Set{2});
    epochs_.sleep(vcpu(0));
    EXPECT_EQ(out(), Set{}) << "QEMU might run none of the others";
}

}  // namespace s80::plugin
