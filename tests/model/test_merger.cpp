// SPDX-License-Identifier: GPL-2.0-or-later
// The modelled clock on hand-made epochs (1 GHz, so one cycle is one nanosecond).
#include "timing/merger.h"

#include "small_machine.h"

namespace s80::model {

class TimingMergerTest : public SmallMachine {
protected:
    TimingMerger merger{h};
    Epoch epoch{3};

    void event(unsigned p, Op op, std::uint32_t line, std::uint16_t delta) {
        Stream& s = epoch.streams[p];
        s.events.push_back(Event{line, delta, 0, op, 0, user});
        s.size = s.events.size();
        s.ran = true;
    }
    void tail(unsigned p, std::uint64_t instructions, bool runs_on = true) {
        epoch.streams[p].tail = instructions;
        epoch.streams[p].ran = true;
        epoch.streams[p].runs_on = runs_on;
    }
};

TEST_F(TimingMergerTest, BaseCyclesAndStallsMakeTheTime) {
    event(0, Op::load, X, 1000);
    tail(0, 500);
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 1000 + kMemory + 500);
}

TEST_F(TimingMergerTest, ProcessorsThatRunThroughCountOnAverage) {
    tail(0, 1000);
    tail(1, 3000);
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 2000U);
}

TEST_F(TimingMergerTest, SlicesInTwoEpochsLastAsLongAsInOne) {
    tail(0, 1000);
    epoch.streams[1].runs_on = true;  // its time slice is in the next epoch
    merger.play(epoch);
    epoch = Epoch{3};
    epoch.streams[0].runs_on = true;
    tail(1, 1000);
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 1000U);
}

TEST_F(TimingMergerTest, ASleeperThatRanBeyondTheEpochWakesLater) {
    tail(0, 1000);
    tail(1, 5000, false);  // 4000 beyond the end of the epoch
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 1000U);
    epoch = Epoch{3};
    tail(0, 1000);
    merger.play(epoch);  // 3000 beyond the end of this one
    epoch = Epoch{3};
    tail(1, 200);
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 2000U + 3200U);
}

TEST_F(TimingMergerTest, AllAsleepAtTheEndLastsAsLongAsTheLast) {
    tail(0, 1000, false);
    tail(1, 3000, false);
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 3000U);
}

TEST_F(TimingMergerTest, AnInterruptOrdersSenderAndSleeper) {
    epoch.signals = 1;
    event(1, Op::wait, 0, 0);
    tail(1, 400, false);
    event(0, Op::signal, 0, 1000);
    tail(0, 100, false);
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 1400U);  // not max(1100, 400)
}

TEST_F(TimingMergerTest, TheWokenProcessorInterleavesWithItsWaker) {
    epoch.signals = 1;
    event(0, Op::signal, 0, 0);
    event(1, Op::wait, 0, 0);
    event(1, Op::pass, 0, 500);
    for (int i = 0; i < 10; ++i) {
        event(0, Op::store, X, 1000);
        event(1, Op::store, X, 1000);
    }
    tail(0, 0);
    tail(1, 0);
    merger.play(epoch);
    EXPECT_EQ(sum(Stat::l2_misses), 20U);
}

TEST_F(TimingMergerTest, WhatASleeperStillOwesIsTimeWhenAllSleep) {
    tail(0, 100'000, false);
    tail(1, 500);
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 500U);
    epoch = Epoch{3};
    tail(1, 500, false);
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 100'000U);
}

TEST_F(TimingMergerTest, NobodyPlaysBetweenTheLoadAndTheStoreOfOneBlock) {
    for (const unsigned p : {0U, 1U}) {
        event(p, Op::load, X, 150);  // its stall ends beyond the quantum
        event(p, Op::store, X, 0);
        tail(p, 0);
    }
    merger.play(epoch);
    EXPECT_EQ(sum(Stat::l2_misses), 2U);
    EXPECT_EQ(sum(Stat::upgrades), 1U);  // of the second; the first stored to its E
}

TEST_F(TimingMergerTest, BlocksAreDividedFromEachOther) {
    for (const unsigned p : {0U, 1U}) {
        event(p, Op::load, X, 150);
        event(p, Op::store, X, 1);
        tail(p, 0);
    }
    merger.play(epoch);
    EXPECT_EQ(sum(Stat::l2_misses), 3U);
}

/// A epoch in which the first two processors run for so many tenths of a millisecond, and on.
class LeadTest : public TimingMergerTest {
protected:
    static constexpr std::uint64_t kTenth = 100'000;  ///< instructions, and nanoseconds
    /// Tenths of a millisecond by which the clock moves.
    std::uint64_t run(std::uint64_t first, std::uint64_t second) {
        const std::uint64_t before = merger.clock_ns();
        epoch = Epoch{3};
        tail(0, first * kTenth);
        tail(1, second * kTenth);
        merger.play(epoch);
        return (merger.clock_ns() - before) / kTenth;
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
        epoch = Epoch{3};
        epoch.signals = 1;
        event(0, Op::signal, 0, 0);
        event(1, Op::wait, 0, 0);
        for (int j = 0; j < 800; ++j) {
            epoch.streams[0].events.insert(epoch.streams[0].events.begin(),
                                           Event{0, 25'000, 0, Op::pass, 0, user});
        }
        epoch.streams[0].size = epoch.streams[0].events.size();
        tail(0, 0, false);
        tail(1, 10 * kTenth);
        const std::uint64_t before = merger.clock_ns();
        merger.play(epoch);
        EXPECT_EQ(merger.clock_ns() - before, 210 * kTenth);  // 200 of them asleep
    }
    EXPECT_EQ(merger.paces()[1].lead, 0);
}

/// The pace of processors, and their leads over the clock in cycles.
class PaceTest : public TimingMergerTest {
protected:
    const TimingMerger::Pace& pace(unsigned p) const { return merger.paces()[p]; }
    std::int64_t lead(unsigned p) const { return pace(p).lead / TimingMerger::kUnit; }
    void next() { epoch = Epoch{3}; }
};

TEST_F(PaceTest, CyclesPerInstructionIncludeStalls) {
    event(0, Op::load, X, 100);
    tail(0, 100);
    merger.play(epoch);
    EXPECT_EQ(pace(0).instructions, 200U * 256U);
    EXPECT_EQ(pace(0).busy, (200 + kMemory) * 256U);
    EXPECT_EQ(pace(0).cpi(), 384U);
    EXPECT_EQ(pace(1).cpi(), 0U) << "unknown";
}

TEST_F(PaceTest, OlderEpochsCountLess) {
    tail(0, 800);
    merger.play(epoch);
    next();
    event(0, Op::load, X, 60);
    tail(0, 40);
    merger.play(epoch);
    EXPECT_EQ(pace(0).instructions, (700U + 100U) * 256U);
    EXPECT_EQ(pace(0).busy, (700U + 100U + kMemory) * 256U);
}

TEST_F(PaceTest, LongEpochsAreForgottenSooner) {
    Machine machine = h.machine();
    machine.epoch_cycles = 200'000;
    const Protocol protocol = moesi();
    Hierarchy with_long_epochs(machine, protocol, 1024);
    TimingMerger other(with_long_epochs);
    for (int number = 0; number < 2; ++number) {
        next();
        tail(0, 800);
        other.play(epoch);
    }
    EXPECT_EQ(other.paces()[0].instructions, (400U + 800U) * 256U);
}

TEST_F(PaceTest, AnEpochWithoutInstructionsKeepsThePace) {
    tail(0, 51'200);
    merger.play(epoch);
    const std::uint64_t cpi = pace(0).cpi();
    for (int i = 0; i < 3; ++i) {
        next();
        tail(1, 100);
        merger.play(epoch);
    }
    EXPECT_EQ(pace(0).cpi(), cpi);
}

TEST_F(PaceTest, SleepIsNotPartOfThePace) {
    epoch.signals = 1;
    event(0, Op::signal, 0, 5000);
    tail(0, 0);
    event(1, Op::wait, 0, 0);
    tail(1, 300);
    merger.play(epoch);
    EXPECT_EQ(pace(1).busy, 300U * 256U);
    EXPECT_EQ(pace(1).instructions, 300U * 256U);
}

TEST_F(PaceTest, LeadIsTheDistanceFromTheClock) {
    tail(0, 1000);
    tail(1, 3000);
    merger.play(epoch);  // the clock moves by 2000
    EXPECT_EQ(lead(0), -1000);
    EXPECT_EQ(lead(1), 1000);
    next();
    tail(0, 3000);
    tail(1, 1000);
    merger.play(epoch);
    EXPECT_EQ(lead(0), 0);
    EXPECT_EQ(lead(1), 0);
}

TEST_F(PaceTest, AProcessorWithoutATimeSliceFallsBehind) {
    epoch.streams[1].runs_on = true;
    tail(0, 3000);
    merger.play(epoch);
    EXPECT_EQ(lead(0), 1500);
    EXPECT_EQ(lead(1), -1500);
}

TEST_F(PaceTest, ASleeperIsNotBehind) {
    tail(0, 3000);
    tail(1, 1000, false);
    merger.play(epoch);
    EXPECT_EQ(lead(1), 0);
    EXPECT_EQ(lead(2), 0);
}

TEST_F(PaceTest, TheTimeBeforeAProcessorWokeIsPartOfItsClock) {
    epoch.signals = 1;
    event(0, Op::signal, 0, 5000);
    tail(0, 5000);
    event(1, Op::wait, 0, 0);
    tail(1, 2000);
    merger.play(epoch);  // the clock moves by the mean of 10,000 and 7,000
    EXPECT_EQ(lead(0), 1500);
    EXPECT_EQ(lead(1), -1500);
}

TEST_F(PaceTest, LeadsHaveBounds) {
    constexpr std::int64_t kBound = 1'000'000;  // 1 ms
    tail(0, 100'000'000);
    tail(1, 0);
    tail(2, 0);
    merger.play(epoch);
    EXPECT_EQ(lead(0), kBound);
    EXPECT_EQ(lead(1), -kBound);
    EXPECT_EQ(merger.clock_ns(), 99'000'000U) << "the clock waits";
}

TEST_F(PaceTest, TheBoundIsNeverLessThanFourEpochs) {
    Machine machine = small_machine();
    EXPECT_EQ(TimingMerger::longest_lead_ns(machine), 1'000'000);
    machine.epoch_cycles = 1'000'000;
    EXPECT_EQ(TimingMerger::longest_lead_ns(machine), 4'000'000);
}

TEST_F(PaceTest, ShortEpochsDoNotBoundALead) {
    tail(0, 1000);
    tail(1, 401'000);
    merger.play(epoch);
    for (int i = 0; i < 3; ++i) {
        next();
        tail(0, 10);
        tail(1, 10);
        merger.play(epoch);
    }
    EXPECT_EQ(lead(0), -200'000);
    EXPECT_EQ(lead(1), 200'000);
}

TEST_F(PaceTest, NobodyIsAheadOfTheClockWhenAllSleep) {
    tail(0, 1000);
    tail(1, 3000);
    merger.play(epoch);
    next();
    tail(0, 100, false);
    tail(1, 100, false);
    merger.play(epoch);
    EXPECT_EQ(lead(0), 0);
    EXPECT_EQ(lead(1), 0);
    EXPECT_EQ(merger.clock_ns(), 3100U);
}

TEST_F(PaceTest, TheErrorOfThePredictionIsCounted) {
    tail(0, 1000);
    tail(1, 3000);
    tail(2, 500, false);
    merger.play(epoch);
    for (const unsigned p : {0U, 1U}) {
        EXPECT_EQ(h.stats().core(Stat::epoch_cycles, p), 20'000U);
        EXPECT_EQ(h.stats().core(Stat::epoch_error_cycles, p), 1000U);
    }
    EXPECT_EQ(h.stats().core(Stat::epoch_cycles, 2), 0U) << "it sleeps at the end";
    EXPECT_EQ(h.stats().core(Stat::epoch_error_cycles, 2), 0U);
}

TEST_F(TimingMergerTest, AWaitForAnInterruptThatWasNeverSentIsAnError) {
    epoch.signals = 1;
    event(1, Op::wait, 0, 0);
    tail(1, 0);
    EXPECT_THROW(merger.play(epoch), Error);
}

TEST_F(TimingMergerTest, IdleTimeMovesTheClock) {
    epoch.idle_before_ns = 5000;
    tail(0, 100);
    merger.play(epoch);
    EXPECT_EQ(merger.clock_ns(), 5100U);
    EXPECT_EQ(merger.idle_ns(), 5000U);
}

TEST_F(TimingMergerTest, StreamsAreMergedAsFinelyAsTheQuantum) {
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
    merger.play(epoch);
    EXPECT_EQ(sum(Stat::l2_misses), 20U);
    EXPECT_EQ(source(0, Kind::store, Source::M) + source(1, Kind::store, Source::M), 19U);
}

TEST_F(TimingMergerTest, BusyCyclesAreBaseAndStalls) {
    event(0, Op::load, X, 1000);
    tail(0, 500);
    epoch.mark = Mark::interval;
    merger.play(epoch);
    EXPECT_EQ(h.stats().core(Stat::busy_cycles, 0), 1500 + kMemory);
}

TEST_F(TimingMergerTest, DoubledLatenciesLengthenTheTime) {
    event(0, Op::load, X, 1000);
    tail(0, 0);
    merger.play(epoch);
    Machine slow = small_machine();
    slow.latency.memory *= 2;
    Hierarchy other(slow, moesi(), 1024);
    TimingMerger later(other);
    later.play(epoch);
    EXPECT_EQ(later.clock_ns() - merger.clock_ns(), kMemory);
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
    void end(const Epoch&) override {}
    std::vector<unsigned> order;

private:
    Line y_;
};

TEST_F(TimingMergerTest, HitsOfAnL1DoNotChangeTheOrder) {
    std::vector<std::vector<unsigned>> orders;
    for (const bool hits : {true, false}) {  // false: as a filtered capture has it
        epoch = Epoch{3};
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
        TimingMerger one(hierarchy);
        OrderOfY order(Y);
        one.observe(order);
        one.play(epoch);
        orders.push_back(order.order);
    }
    EXPECT_EQ(orders[0], orders[1]);
    EXPECT_EQ(orders[1].back(), 0U) << "the other's accesses were all earlier";
}

}  // namespace s80::model
