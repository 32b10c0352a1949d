// SPDX-License-Identifier: GPL-2.0-or-later
// Where windows end and what goes into them, over a guest that is played by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <vector>

#include "plugin/windows.h"

namespace s80::plugin {

using model::Mark;
using model::Op;

namespace {

constexpr unsigned kProcessors = 3;
constexpr std::size_t kFits = 4;          ///< events of a processor in one window
constexpr std::size_t kRoom = kFits + 1;  ///< beside the beginning of its turn

/// Keeps what is handed over. Its clock is 1000 ns after each window.
class Sink final : public WindowSink {
public:
    std::unique_ptr<model::Window> take() override { return std::make_unique<model::Window>(kProcessors); }
    void submit(std::unique_ptr<model::Window> window) override { closed.push_back(std::move(window)); }
    std::uint64_t clock_ns() override { return 1000 * closed.size(); }

    std::vector<std::unique_ptr<model::Window>> closed;
};

Lanes bound_lanes() {
    Lanes lanes;
    for (unsigned p = 0; p < kProcessors; ++p) {
        lanes.push_back(std::make_unique<Lane>());
        lanes.back()->processor = p;
        lanes.back()->attention = 0;
    }
    return lanes;
}

std::uint64_t instructions(const model::Stream& s) {
    return std::accumulate(s.events.begin(), s.events.begin() + static_cast<std::ptrdiff_t>(s.size), s.tail,
                           [](std::uint64_t n, const model::Event& e) { return n + e.delta; });
}

}  // namespace

/// Runs processors as QEMU does: one turn after the other.
class WindowsTest : public testing::Test {
protected:
    Lane& lane(unsigned processor) { return *lanes_[processor]; }
    void turn(unsigned processor, std::uint64_t instructions) {
        windows_.begin_turn(lane(processor));
        lane(processor).instructions += instructions;
    }
    void block(unsigned processor, std::uint64_t instructions) {
        lane(processor).instructions += instructions;
        windows_.limit_turn(lane(processor));
    }
    /// A round of all processors.
    void round(std::uint64_t instructions) {
        for (unsigned p = 0; p < kProcessors; ++p) {
            turn(p, instructions);
        }
    }
    const model::Window& closed(std::size_t i) const { return *sink_.closed.at(i); }
    /// Of one stream, without the beginnings of turns.
    std::vector<model::Event> events(std::size_t window, unsigned processor) const {
        const model::Stream& s = closed(window).streams[processor];
        std::vector<model::Event> found;
        std::copy_if(s.events.begin(), s.events.begin() + static_cast<std::ptrdiff_t>(s.size),
                     std::back_inserter(found), [](const model::Event& e) { return e.op != Op::turn; });
        return found;
    }
    model::Event event(std::size_t window, unsigned processor, std::size_t i) const {
        return events(window, processor).at(i);
    }

    Lanes lanes_ = bound_lanes();
    Sink sink_;
    ClockPage page_;
    Windows windows_{lanes_, sink_, page_, Schedule(0, 100'000, 50'000), {}, kRoom};
};

TEST_F(WindowsTest, AWindowIsARound) {
    round(3'000);
    EXPECT_TRUE(sink_.closed.empty());
    turn(0, 5);  // the round has ended: 9,000 instructions
    ASSERT_EQ(sink_.closed.size(), 1U);
    EXPECT_EQ(closed(0).instructions, 9'000U);
    for (const model::Stream& s : closed(0).streams) {
        EXPECT_TRUE(s.ran);
        EXPECT_TRUE(s.runs_on);
        EXPECT_EQ(instructions(s), 3'000U);
    }
    windows_.finish();
    EXPECT_EQ(instructions(closed(1).streams[0]), 5U);
    EXPECT_FALSE(closed(1).streams[1].ran);
    EXPECT_EQ(closed(1).mark, Mark::exit);
}

TEST_F(WindowsTest, ShortRoundsAreJoined) {
    round(2'999);
    round(2'999);
    EXPECT_TRUE(sink_.closed.empty());
    turn(0, 1);
    EXPECT_EQ(sink_.closed.size(), 1U);
}

TEST_F(WindowsTest, AFullStreamEndsTheWindowBeforeTheNextBlock) {
    turn(1, 0);
    for (unsigned i = 0; i < kFits; ++i) {
        block(1, 10);
        windows_.add(lane(1), i, Op::load);
    }
    block(1, 10);
    EXPECT_TRUE(sink_.closed.empty());
    windows_.add(lane(1), 98, Op::load);
    windows_.add(lane(1), 99, Op::store);  // of the same block
    EXPECT_TRUE(sink_.closed.empty());
    EXPECT_EQ(lane(1).slice_end, 0U);  // asks for the end
    block(1, 7);
    ASSERT_EQ(sink_.closed.size(), 1U);
    EXPECT_EQ(events(0, 1).size(), kFits + 2);
    EXPECT_EQ(event(0, 1, kFits).line, 98U);
    EXPECT_EQ(event(0, 1, kFits + 1).line, 99U);
    EXPECT_EQ(event(0, 1, kFits + 1).delta, 0U);
    EXPECT_EQ(closed(0).streams[1].tail, 7U);
    block(1, 1);
    EXPECT_EQ(sink_.closed.size(), 1U);
}

TEST_F(WindowsTest, AFullStreamEndsTheWindowWithItsTurn) {
    turn(0, 10);
    for (unsigned i = 0; i <= kFits; ++i) {
        windows_.add(lane(0), i, Op::load);
    }
    turn(1, 10);
    ASSERT_EQ(sink_.closed.size(), 1U);
    EXPECT_EQ(events(0, 0).size(), kFits + 1);
    EXPECT_FALSE(closed(0).streams[1].ran);
}

TEST_F(WindowsTest, ALongDeltaIsCarriedByPasses) {
    turn(0, 150'000);
    windows_.add(lane(0), 7, Op::ifetch);
    windows_.finish();
    ASSERT_EQ(events(0, 0).size(), 3U);
    EXPECT_EQ(event(0, 0, 0).op, Op::pass);
    EXPECT_EQ(event(0, 0, 1).op, Op::pass);
    EXPECT_EQ(event(0, 0, 2).op, Op::ifetch);
    EXPECT_EQ(event(0, 0, 2).line, 7U);
    EXPECT_EQ(instructions(closed(0).streams[0]), 150'000U);
}

TEST_F(WindowsTest, TheLongestDeltaIsOneEvent) {
    turn(0, 65'535);
    windows_.add(lane(0), 7, Op::ifetch);
    windows_.finish();
    EXPECT_EQ(events(0, 0).size(), 1U);
}

TEST_F(WindowsTest, ALongDeltaThatDoesNotFitIsRecordedWhole) {
    turn(0, 0);
    windows_.add(lane(0), 1, Op::load);
    windows_.add(lane(0), 2, Op::load);
    lane(0).instructions += 200'000;
    windows_.add(lane(0), 3, Op::load);
    windows_.finish();
    EXPECT_EQ(events(0, 0).size(), 6U);
    EXPECT_EQ(instructions(closed(0).streams[0]), 200'000U);
}

TEST_F(WindowsTest, AnInterruptOfTheSameWindowIsWaitedFor) {
    turn(1, 10);
    windows_.sleep(lane(1));
    turn(2, 10);
    windows_.interrupt(lane(2), lane(1));
    turn(1, 0);
    windows_.wake(lane(1));
    windows_.finish();
    EXPECT_EQ(closed(0).signals, 1U);
    EXPECT_EQ(event(0, 2, 0).op, Op::signal);
    EXPECT_EQ(event(0, 2, 0).line, 0U);
    EXPECT_EQ(event(0, 1, 0).op, Op::wait);
    EXPECT_EQ(event(0, 1, 0).line, 0U);
}

TEST_F(WindowsTest, AnInterruptOfAnEarlierWindowIsNotWaitedFor) {
    turn(1, 10);
    windows_.sleep(lane(1));
    turn(2, 10'000);
    windows_.interrupt(lane(2), lane(1));
    turn(1, 0);
    ASSERT_EQ(sink_.closed.size(), 1U);
    windows_.wake(lane(1));
    windows_.finish();
    EXPECT_EQ(closed(0).signals, 1U);
    EXPECT_FALSE(closed(0).streams[1].runs_on);
    EXPECT_EQ(events(1, 1).size(), 0U);
}

TEST_F(WindowsTest, AFullWindowTakesAnInterruptAndWhomItWakes) {
    turn(0, 1);
    for (unsigned i = 0; i < kFits; ++i) {
        windows_.add(lane(0), i, Op::load);
    }
    windows_.sleep(lane(0));
    turn(1, 1);
    for (unsigned i = 0; i < kFits; ++i) {
        windows_.add(lane(1), i, Op::load);
    }
    windows_.interrupt(lane(1), lane(0));
    EXPECT_TRUE(sink_.closed.empty());
    EXPECT_EQ(lane(0).wake_signal, 0);
    turn(0, 0);
    ASSERT_EQ(sink_.closed.size(), 1U);
    windows_.wake(lane(0));
    windows_.finish();
    EXPECT_EQ(event(0, 1, kFits).op, Op::signal);
    EXPECT_EQ(closed(0).signals, 1U);
    EXPECT_EQ(events(1, 0).size(), 0U);  // the interrupt was sent before this window
}

TEST_F(WindowsTest, OneInterruptWakesAndTheNextSaysNothing) {
    turn(0, 1);
    windows_.sleep(lane(0));
    turn(1, 1);
    windows_.interrupt(lane(1), lane(0));
    windows_.interrupt(lane(1), lane(0));  // it is on its way already
    windows_.interrupt(lane(1), lane(2));  // it is awake
    windows_.finish();
    EXPECT_EQ(closed(0).signals, 1U);
    EXPECT_EQ(events(0, 1).size(), 1U);
}

TEST_F(WindowsTest, WhenAllSleepTheWindowEndsAndTheGapIsTheNextOnes) {
    for (unsigned p = 0; p < kProcessors; ++p) {
        EXPECT_FALSE(windows_.gap_pending());
        turn(p, 10);
        windows_.sleep(lane(p));
    }
    ASSERT_EQ(sink_.closed.size(), 1U);
    EXPECT_TRUE(windows_.gap_pending());
    for (const model::Stream& s : closed(0).streams) {
        EXPECT_FALSE(s.runs_on);
    }
    turn(1, 0);
    windows_.wake(lane(1));
    windows_.end_gap(5'000);
    EXPECT_FALSE(windows_.gap_pending());
    windows_.finish();
    EXPECT_EQ(closed(0).idle_before_ns, 0U);
    EXPECT_EQ(closed(1).idle_before_ns, 5'000U);
    EXPECT_TRUE(closed(1).streams[1].runs_on);
    EXPECT_FALSE(closed(1).streams[0].runs_on);
}

TEST_F(WindowsTest, ATurnIsCutSoonOnlyWhereTheProcessorIsAlone) {
    turn(0, 50'001);
    windows_.limit_turn(lane(0));
    EXPECT_EQ(sink_.closed.size(), 0U);  // whether it is alone shows in the window before only
    turn(0, 0);
    ASSERT_EQ(sink_.closed.size(), 1U);
    lane(0).instructions += 50'000;
    windows_.limit_turn(lane(0));
    EXPECT_EQ(sink_.closed.size(), 1U);
    lane(0).instructions += 1;
    windows_.limit_turn(lane(0));
    EXPECT_EQ(sink_.closed.size(), 2U);
}

TEST_F(WindowsTest, ATurnBesideOthersIsCutLate) {
    turn(0, 1'000);
    turn(1, 1'000'000);
    windows_.limit_turn(lane(1));
    EXPECT_TRUE(sink_.closed.empty());
    lane(1).instructions += 1;
    windows_.limit_turn(lane(1));
    EXPECT_EQ(sink_.closed.size(), 1U);
}

TEST_F(WindowsTest, AMarkComesWithTheFirstWindowThatEndsAfterItIsDue) {
    turn(0, 1'000);
    windows_.transaction_end(2, 0, false);
    windows_.begin_load();
    EXPECT_EQ(closed(0).mark, Mark::load_begin);
    EXPECT_EQ(closed(0).transactions[2][0], 1U);
    round(10'000);
    turn(0, 1);
    EXPECT_EQ(closed(1).mark, Mark::measure_begin);
    round(10'000);
    turn(0, 1);
    EXPECT_EQ(closed(2).mark, Mark::none);
    round(10'000);
    turn(0, 1);
    EXPECT_EQ(closed(3).mark, Mark::window);
    EXPECT_EQ(closed(3).index, 2U);
}

TEST_F(WindowsTest, AClientThatFinishedOftenIsOneThatFinished) {
    windows_.begin_load();
    EXPECT_EQ(closed(0).clients_finished, 0U);
    for (const std::uint64_t client : {5U, 7U, 5U}) {
        windows_.transaction_end(0, client, false);
    }
    turn(0, 1);
    windows_.finish();
    EXPECT_EQ(closed(1).clients_finished, 2U);
    EXPECT_EQ(windows_.state().finished, (std::set<std::uint64_t>{5, 7}));
}

TEST_F(WindowsTest, CountsAreTheWindowsInWhichTheyWereMade) {
    turn(0, 4);
    lane(0).accesses[1] = 3;
    lane(0).set_context(model::Context(2));
    lane(0).instructions += 6;
    windows_.begin_load();
    lane(0).instructions += 5;
    windows_.finish();
    EXPECT_EQ(closed(0).streams[0].instructions[0], 4U);
    EXPECT_EQ(closed(0).streams[0].accesses[0][1], 3U);
    EXPECT_EQ(closed(0).streams[0].instructions[2], 6U);
    EXPECT_EQ(closed(1).streams[0].instructions[2], 5U);
    EXPECT_EQ(closed(1).streams[0].accesses[0][1], 0U);
}

TEST_F(WindowsTest, TurnsAreNumberedInTheOrderInWhichTheyCame) {
    turn(2, 100);
    windows_.add(lane(2), 5, Op::load);
    turn(0, 10'000);
    turn(2, 100);
    turn(1, 1);  // a round has ended: a window of its own
    ASSERT_EQ(sink_.closed.size(), 1U);
    const model::Stream& last = closed(0).streams[2];
    ASSERT_EQ(last.size, 3U);
    EXPECT_EQ(last.events[0].op, Op::turn);
    EXPECT_EQ(last.events[0].line, 1U);
    EXPECT_EQ(last.events[2].op, Op::turn);
    EXPECT_EQ(last.events[2].line, 3U);
    EXPECT_EQ(closed(0).streams[0].events[0].line, 2U);
    windows_.finish();
    EXPECT_EQ(closed(1).streams[1].events[0].line, 1U);
}

TEST_F(WindowsTest, TurnsAreCountedByTheirLength) {
    turn(0, 1'000);
    turn(1, 1'023);
    block(1, 1);  // as long as 1,024: the next power of two
    turn(2, 0);
    windows_.finish();
    const model::TurnCounts& counts = closed(0).turns;
    EXPECT_EQ(counts.turns[9], 1U);
    EXPECT_EQ(counts.instructions[9], 1'000U);
    EXPECT_EQ(counts.turns[10], 1U);
    EXPECT_EQ(counts.instructions[10], 1'024U);
    EXPECT_EQ(counts.turns[0], 1U);
    EXPECT_EQ(counts.instructions[0], 0U);
}

TEST_F(WindowsTest, ATurnThatIsCutIsOneTurn) {
    turn(0, 10);
    turn(1, 1'000'000);
    block(1, 500'000);
    EXPECT_EQ(sink_.closed.size(), 1U);
    turn(2, 1);
    windows_.finish();
    EXPECT_EQ(closed(1).turns.instructions[20], 1'500'000U);
}

TEST_F(WindowsTest, ARestoredGuestSleepsOnAndItsLoadHasBegun) {
    Windows::State state;
    state.sleeping = 0b101;
    state.began = true;
    state.instructions = 1'000'000;
    Lanes lanes = bound_lanes();
    Windows restored(lanes, sink_, page_, Schedule(0, 0, 50'000), state);
    EXPECT_NE(lanes[0]->attention & kHalted, 0U);
    EXPECT_EQ(lanes[1]->attention & kHalted, 0U);
    EXPECT_NE(lanes[2]->attention & kHalted, 0U);
    lanes[1]->instructions += 50'000;
    restored.sleep(*lanes[1]);
    ASSERT_EQ(sink_.closed.size(), 1U);
    EXPECT_EQ(closed(0).mark, Mark::window);
    EXPECT_EQ(closed(0).instructions, 1'050'000U);
}

}  // namespace s80::plugin
