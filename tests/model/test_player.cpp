// SPDX-License-Identifier: GPL-2.0-or-later
// The modelled clock on hand-made windows (1 GHz, so one cycle is one nanosecond).
#include "timing/player.h"

#include "small_machine.h"

namespace s80::model {

class PlayerTest : public SmallMachine {
protected:
    Player player{h};
    Window window{3};

    void event(unsigned p, Op op, std::uint32_t line, std::uint16_t delta) {
        Stream& s = window.streams[p];
        s.events.push_back(Event{line, delta, 0, op, 0, user});
        s.size = s.events.size();
        s.ran = true;
    }
    void tail(unsigned p, std::uint64_t instructions, bool runs_on = true) {
        window.streams[p].tail = instructions;
        window.streams[p].ran = true;
        window.streams[p].runs_on = runs_on;
    }
};

TEST_F(PlayerTest, BaseCyclesAndStallsMakeTheTime) {
    event(0, Op::load, X, 1000);
    tail(0, 500);
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 1000 + kMemory + 500);
}

TEST_F(PlayerTest, ProcessorsThatRunThroughCountOnAverage) {
    tail(0, 1000);
    tail(1, 3000);
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 2000U);
}

TEST_F(PlayerTest, SlicesInTwoWindowsLastAsLongAsInOne) {
    tail(0, 1000);
    window.streams[1].runs_on = true;  // its time slice is in the next window
    player.play(window);
    window = Window{3};
    window.streams[0].runs_on = true;
    tail(1, 1000);
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 1000U);
}

TEST_F(PlayerTest, ASleeperThatRanBeyondTheWindowWakesLater) {
    tail(0, 1000);
    tail(1, 5000, false);  // 4000 beyond the end of the window
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 1000U);
    window = Window{3};
    tail(0, 1000);
    player.play(window);  // 3000 beyond the end of this one
    window = Window{3};
    tail(1, 200);
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 2000U + 3200U);
}

TEST_F(PlayerTest, AllAsleepAtTheEndLastsAsLongAsTheLast) {
    tail(0, 1000, false);
    tail(1, 3000, false);
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 3000U);
}

TEST_F(PlayerTest, AnInterruptOrdersSenderAndSleeper) {
    window.signals = 1;
    event(1, Op::wait, 0, 0);
    tail(1, 400, false);
    event(0, Op::signal, 0, 1000);
    tail(0, 100, false);
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 1400U);  // not max(1100, 400)
}

TEST_F(PlayerTest, TheWokenProcessorInterleavesWithItsWaker) {
    window.signals = 1;
    event(0, Op::signal, 0, 0);
    event(1, Op::wait, 0, 0);
    event(1, Op::pass, 0, 500);
    for (int i = 0; i < 10; ++i) {
        event(0, Op::store, X, 1000);
        event(1, Op::store, X, 1000);
    }
    tail(0, 0);
    tail(1, 0);
    player.play(window);
    EXPECT_EQ(sum(Stat::l2_misses), 20U);
}

TEST_F(PlayerTest, WhatASleeperStillOwesIsTimeWhenAllSleep) {
    tail(0, 100'000, false);
    tail(1, 500);
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 500U);
    window = Window{3};
    tail(1, 500, false);
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 100'000U);
}

TEST_F(PlayerTest, NobodyPlaysBetweenTheLoadAndTheStoreOfOneBlock) {
    for (const unsigned p : {0U, 1U}) {
        event(p, Op::load, X, 150);  // its stall ends beyond the quantum
        event(p, Op::store, X, 0);
        tail(p, 0);
    }
    player.play(window);
    EXPECT_EQ(sum(Stat::l2_misses), 2U);
    EXPECT_EQ(sum(Stat::upgrades), 1U);  // of the second; the first stored to its E
}

TEST_F(PlayerTest, BlocksAreDividedFromEachOther) {
    for (const unsigned p : {0U, 1U}) {
        event(p, Op::load, X, 150);
        event(p, Op::store, X, 1);
        tail(p, 0);
    }
    player.play(window);
    EXPECT_EQ(sum(Stat::l2_misses), 3U);
}

/// A window in which the first two processors run for so many tenths of a millisecond, and on.
class LeadTest : public PlayerTest {
protected:
    static constexpr std::uint64_t kTenth = 100'000;  ///< instructions, and nanoseconds
    /// Tenths of a millisecond by which the clock moves.
    std::uint64_t run(std::uint64_t first, std::uint64_t second) {
        const std::uint64_t before = player.clock_ns();
        window = Window{3};
        tail(0, first * kTenth);
        tail(1, second * kTenth);
        player.play(window);
        return (player.clock_ns() - before) / kTenth;
    }
};

TEST_F(LeadTest, TheClockWaitsForAProcessorWhoseLeadIsAtItsBound) {
    EXPECT_EQ(run(30, 10), 20U);  // a lead of 1 ms
    EXPECT_EQ(run(30, 10), 30U);
    EXPECT_EQ(run(31, 10), 31U);
}

TEST_F(LeadTest, ALeadIsPaidBack) {
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(run(30, 10), 20U);
        EXPECT_EQ(run(10, 30), 20U);
    }
}

TEST_F(LeadTest, WaitingIsNotBeingBusy) {
    for (int i = 0; i < 3; ++i) {
        window = Window{3};
        window.signals = 1;
        event(0, Op::signal, 0, 0);
        event(1, Op::wait, 0, 0);
        for (int j = 0; j < 800; ++j) {
            window.streams[0].events.insert(window.streams[0].events.begin(),
                                            Event{0, 25'000, 0, Op::pass, 0, user});
        }
        window.streams[0].size = window.streams[0].events.size();
        tail(0, 0, false);
        tail(1, 10 * kTenth);
        const std::uint64_t before = player.clock_ns();
        player.play(window);
        EXPECT_EQ(player.clock_ns() - before, 210 * kTenth);  // 200 of them asleep
    }
    EXPECT_EQ(player.paces()[1].lead, 0);
}

/// The pace of processors, and their leads over the clock in cycles.
class PaceTest : public PlayerTest {
protected:
    const Player::Pace& pace(unsigned p) const { return player.paces()[p]; }
    std::int64_t lead(unsigned p) const { return pace(p).lead / Player::kUnit; }
    void next() { window = Window{3}; }
};

TEST_F(PaceTest, CyclesPerInstructionIncludeStalls) {
    event(0, Op::load, X, 100);
    tail(0, 100);
    player.play(window);
    EXPECT_EQ(pace(0).instructions, 200U * 256U);
    EXPECT_EQ(pace(0).busy, (200 + kMemory) * 256U);
    EXPECT_EQ(pace(0).cpi(), 384U);
    EXPECT_EQ(pace(1).cpi(), 0U) << "unknown";
}

TEST_F(PaceTest, OlderEpochsCountLess) {
    tail(0, 800);
    player.play(window);
    next();
    event(0, Op::load, X, 60);
    tail(0, 40);
    player.play(window);
    EXPECT_EQ(pace(0).instructions, (700U + 100U) * 256U);
    EXPECT_EQ(pace(0).busy, (700U + 100U + kMemory) * 256U);
}

TEST_F(PaceTest, LongEpochsAreForgottenSooner) {
    Machine machine = h.machine();
    machine.epoch_cycles = 200'000;
    const Protocol protocol = moesi();
    Hierarchy with_long_epochs(machine, protocol, 1024);
    Player other(with_long_epochs);
    for (int epoch = 0; epoch < 2; ++epoch) {
        next();
        tail(0, 800);
        other.play(window);
    }
    EXPECT_EQ(other.paces()[0].instructions, (400U + 800U) * 256U);
}

TEST_F(PaceTest, AnEpochWithoutInstructionsKeepsThePace) {
    tail(0, 51'200);
    player.play(window);
    const std::uint64_t cpi = pace(0).cpi();
    for (int i = 0; i < 3; ++i) {
        next();
        tail(1, 100);
        player.play(window);
    }
    EXPECT_EQ(pace(0).cpi(), cpi);
}

TEST_F(PaceTest, SleepIsNotPartOfThePace) {
    window.signals = 1;
    event(0, Op::signal, 0, 5000);
    tail(0, 0);
    event(1, Op::wait, 0, 0);
    tail(1, 300);
    player.play(window);
    EXPECT_EQ(pace(1).busy, 300U * 256U);
    EXPECT_EQ(pace(1).instructions, 300U * 256U);
}

TEST_F(PaceTest, LeadIsTheDistanceFromTheClock) {
    tail(0, 1000);
    tail(1, 3000);
    player.play(window);  // the clock moves by 2000
    EXPECT_EQ(lead(0), -1000);
    EXPECT_EQ(lead(1), 1000);
    next();
    tail(0, 3000);
    tail(1, 1000);
    player.play(window);
    EXPECT_EQ(lead(0), 0);
    EXPECT_EQ(lead(1), 0);
}

TEST_F(PaceTest, AProcessorWithoutATimeSliceFallsBehind) {
    window.streams[1].runs_on = true;
    tail(0, 3000);
    player.play(window);
    EXPECT_EQ(lead(0), 1500);
    EXPECT_EQ(lead(1), -1500);
}

TEST_F(PaceTest, ASleeperIsNotBehind) {
    tail(0, 3000);
    tail(1, 1000, false);
    player.play(window);
    EXPECT_EQ(lead(1), 0);
    EXPECT_EQ(lead(2), 0);
}

TEST_F(PaceTest, TheTimeBeforeAProcessorWokeIsPartOfItsClock) {
    window.signals = 1;
    event(0, Op::signal, 0, 5000);
    tail(0, 5000);
    event(1, Op::wait, 0, 0);
    tail(1, 2000);
    player.play(window);  // the clock moves by the mean of 10,000 and 7,000
    EXPECT_EQ(lead(0), 1500);
    EXPECT_EQ(lead(1), -1500);
}

TEST_F(PaceTest, LeadsHaveBounds) {
    constexpr std::int64_t kBound = 1'000'000;  // 1 ms
    tail(0, 100'000'000);
    tail(1, 0);
    tail(2, 0);
    player.play(window);
    EXPECT_EQ(lead(0), kBound);
    EXPECT_EQ(lead(1), -kBound);
    EXPECT_EQ(player.clock_ns(), 99'000'000U) << "the clock waits";
}

TEST_F(PaceTest, TheBoundIsNeverLessThanFourEpochs) {
    Machine machine = small_machine();
    EXPECT_EQ(Player::longest_lead_ns(machine), 1'000'000);
    machine.epoch_cycles = 1'000'000;
    EXPECT_EQ(Player::longest_lead_ns(machine), 4'000'000);
}

TEST_F(PaceTest, ShortEpochsDoNotBoundALead) {
    tail(0, 1000);
    tail(1, 401'000);
    player.play(window);
    for (int i = 0; i < 3; ++i) {
        next();
        tail(0, 10);
        tail(1, 10);
        player.play(window);
    }
    EXPECT_EQ(lead(0), -200'000);
    EXPECT_EQ(lead(1), 200'000);
}

TEST_F(PaceTest, NobodyIsAheadOfTheClockWhenAllSleep) {
    tail(0, 1000);
    tail(1, 3000);
    player.play(window);
    next();
    tail(0, 100, false);
    tail(1, 100, false);
    player.play(window);
    EXPECT_EQ(lead(0), 0);
    EXPECT_EQ(lead(1), 0);
    EXPECT_EQ(player.clock_ns(), 3100U);
}

TEST_F(PaceTest, TheErrorOfThePredictionIsCounted) {
    tail(0, 1000);
    tail(1, 3000);
    tail(2, 500, false);
    player.play(window);
    for (const unsigned p : {0U, 1U}) {
        EXPECT_EQ(h.stats().core(Stat::epoch_cycles, p), 20'000U);
        EXPECT_EQ(h.stats().core(Stat::epoch_error_cycles, p), 1000U);
    }
    EXPECT_EQ(h.stats().core(Stat::epoch_cycles, 2), 0U) << "it sleeps at the end";
    EXPECT_EQ(h.stats().core(Stat::epoch_error_cycles, 2), 0U);
}

TEST_F(PlayerTest, AWaitForAnInterruptThatWasNeverSentIsAnError) {
    window.signals = 1;
    event(1, Op::wait, 0, 0);
    tail(1, 0);
    EXPECT_THROW(player.play(window), Error);
}

TEST_F(PlayerTest, IdleTimeMovesTheClock) {
    window.idle_before_ns = 5000;
    tail(0, 100);
    player.play(window);
    EXPECT_EQ(player.clock_ns(), 5100U);
    EXPECT_EQ(player.idle_ns(), 5000U);
}

TEST_F(PlayerTest, StreamsAreMergedAsFinelyAsTheQuantum) {
    // Recorded one after the other, played side by side: both store to X every 1000 instructions, half a
    // period apart, so that every store finds the block in the other cache.
    for (int i = 0; i < 10; ++i) {
        event(0, Op::store, X, 1000);
    }
    event(1, Op::pass, 0, 500);
    for (int i = 0; i < 10; ++i) {
        event(1, Op::store, X, 1000);
    }
    tail(0, 0);
    tail(1, 0);
    player.play(window);
    EXPECT_EQ(sum(Stat::l2_misses), 20U);
    EXPECT_EQ(source(0, Kind::store, Source::M) + source(1, Kind::store, Source::M), 19U);
}

TEST_F(PlayerTest, BusyCyclesAreBaseAndStalls) {
    event(0, Op::load, X, 1000);
    tail(0, 500);
    window.mark = Mark::window;
    player.play(window);
    EXPECT_EQ(h.stats().core(Stat::busy_cycles, 0), 1500 + kMemory);
}

TEST_F(PlayerTest, DoubledLatenciesLengthenTheTime) {
    event(0, Op::load, X, 1000);
    tail(0, 0);
    player.play(window);
    Machine slow = small_machine();
    slow.latency.memory *= 2;
    Hierarchy other(slow, moesi(), 1024);
    Player later(other);
    later.play(window);
    EXPECT_EQ(later.clock_ns() - player.clock_ns(), kMemory);
}

/// Who accessed Y, in played order.
class OrderOfY : public Observer {
public:
    explicit OrderOfY(Line y) : y_(y) {}
    void event(unsigned processor, const Event& event, std::int64_t) override {
        if (event.op == Op::load && event.line == y_) {
            order.push_back(processor);
        }
    }
    void end(const Window&) override {}
    std::vector<unsigned> order;

private:
    Line y_;
};

TEST_F(PlayerTest, HitsOfAnL1DoNotChangeTheOrder) {
    std::vector<std::vector<unsigned>> orders;
    for (const bool hits : {true, false}) {  // false: as a filtered capture has it
        window = Window{3};
        event(0, Op::store, X, 0);
        for (unsigned i = 1; hits && i < 150; ++i) {
            event(0, Op::load, X, 10);
        }
        event(0, Op::load, Y, hits ? 10 : 1500);
        tail(0, 0);
        for (unsigned i = 0; i < 8; ++i) {
            event(1, Op::load, Y, 100);
        }
        tail(1, 1000);
        Hierarchy hierarchy{small_machine(), moesi(), 1024};
        Player one(hierarchy);
        OrderOfY order(Y);
        one.observe(order);
        one.play(window);
        orders.push_back(order.order);
    }
    EXPECT_EQ(orders[0], orders[1]);
    EXPECT_EQ(orders[1].back(), 0U) << "the other's accesses were all earlier";
}

}  // namespace s80::model
