// SPDX-License-Identifier: GPL-2.0-or-later
// Ordering edges: the timing merger plays conflicting accesses in the order in which the guest executed them
// (1 GHz, so one cycle is one nanosecond).
#include <rapidcheck.h>

#include "model/drawn_epoch.h"
#include "model/ordered_epoch.h"
#include "small_machine.h"
#include "timing/merger.h"

namespace s80::model {

namespace {

/// A line moves at most once from each of the three processors before it comes here, or is upgraded there.
constexpr std::uint16_t kLongestWait = 3 * (kCacheToCache + kUpgrade);

/// Of all kinds and contexts.
std::uint64_t order_stalls(const Statistics& stats, unsigned core) {
    const auto all = stats.values(Stat::stall_cycles);
    const std::size_t of_core = all.size() / stats.cores();
    std::uint64_t cycles = 0;
    for (std::size_t i = static_cast<std::size_t>(Service::order); i < of_core;
         i += stats.dimensions().size(Dim::service)) {
        cycles += all[core * of_core + i];
    }
    return cycles;
}

}  // namespace

class OrderTest : public SmallMachine {
protected:
    TimingMerger merger{h};
    Epoch epoch{3};

    void event(unsigned p, Op op, std::uint32_t line, std::uint16_t delta, bool awaited = false) {
        Stream& s = epoch.streams[p];
        s.events.push_back(Event{line, delta, awaited, op, 0, user});
        s.size = s.events.size();
        s.ran = s.runs_on = true;
    }
    void awaited(unsigned p, Op op, Line line, std::uint16_t delta) { event(p, op, line, delta, true); }
    void after(unsigned p, unsigned earlier, std::uint32_t number, std::uint16_t delta,
               Wait wait = Wait::transfer) {
        event(p, Op::after, Edge{earlier, number, wait}.word(), delta);
    }
    void play() {
        epoch.mark = Mark::interval;
        merger.play(epoch);
    }
    std::uint64_t stalled(unsigned core, Service service) {
        std::uint64_t cycles = 0;
        for (const Kind kind : {Kind::ifetch, Kind::load, Kind::store, Kind::walk}) {
            cycles += h.stats().stall(core, user, kind, service);
        }
        return cycles;
    }
    std::uint64_t busy(unsigned core) { return h.stats().core(Stat::busy_cycles, core); }
    /// Processor 1 loads X this late, behind the store that the first awaited event of the last epoch is.
    /// Returns the cycles for which it waits.
    std::uint64_t waits_for_last_epoch(std::uint16_t delta) {
        after(1, 0, 0, delta, Wait::before);
        event(1, Op::load, X, 0);
        play();
        return stalled(1, Service::order);
    }
    std::uint64_t waits(unsigned core) { return h.stats().core(Stat::order_waits, core); }
    std::string refusal() {
        try {
            merger.play(epoch);
        } catch (const Error& e) {
            return e.what();
        }
        return "played";
    }
};

TEST_F(OrderTest, AnAccessIsPlayedAfterTheAwaitedOne) {
    awaited(0, Op::store, X, 5000);
    after(1, 0, 0, 10);
    event(1, Op::load, X, 0);
    play();
    EXPECT_EQ(source(0, Kind::store, Source::memory), 1U);
    EXPECT_EQ(source(1, Kind::load, Source::M), 1U);
}

TEST_F(OrderTest, WithoutAnEdgeTheClocksDecide) {
    event(0, Op::store, X, 5000);
    event(1, Op::load, X, 10);
    play();
    EXPECT_EQ(source(1, Kind::load, Source::memory), 1U);
    EXPECT_EQ(source(0, Kind::store, Source::E), 1U);
}

TEST_F(OrderTest, AnAwaitedLoadIsPlayedBeforeTheStore) {
    awaited(0, Op::load, X, 5000);
    after(1, 0, 0, 10);
    event(1, Op::store, X, 0);
    play();
    EXPECT_EQ(source(0, Kind::load, Source::memory), 1U);
    EXPECT_EQ(source(1, Kind::store, Source::E), 1U);
}

TEST_F(OrderTest, AShortWaitIsAStall) {
    awaited(0, Op::store, X, 150);  // ends at 150 + kMemory
    after(1, 0, 0, 50);
    event(1, Op::store, X, 0);
    play();
    EXPECT_EQ(waits(1), 1U);
    EXPECT_EQ(stalled(1, Service::order), 100 + kMemory);
    EXPECT_EQ(busy(1), 50 + 100 + kMemory + kCacheToCache);
    EXPECT_EQ(busy(0), 150 + kMemory);
    EXPECT_EQ(merger.paces()[1].busy, 256 * (busy(1) - 100 - kMemory)) << "a wait is not part of the pace";
}

TEST_F(OrderTest, TheStallOfAKnownConflictIsNotPartOfThePace) {
    event(0, Op::store, X, 10);
    event(1, Op::load, Y, 20);
    epoch.streams[1].events.back().way = 1;
    play();
    EXPECT_EQ(merger.paces()[0].busy, 256 * (10 + kMemory));
    EXPECT_EQ(merger.paces()[1].busy, 256 * 20);
    EXPECT_EQ(busy(1), 20 + kMemory);
}

TEST_F(OrderTest, AWaitAtTheBoundIsAStall) {
    awaited(0, Op::store, X, kLongestWait - kMemory);
    after(1, 0, 0, 0);
    event(1, Op::store, X, 0);
    play();
    EXPECT_EQ(waits(1), 1U);
    EXPECT_EQ(stalled(1, Service::order), kLongestWait);
    EXPECT_EQ(busy(1), kLongestWait + kCacheToCache);
}

TEST_F(OrderTest, AWaitBeyondTheBoundKeepsTheOrderAndCostsNothing) {
    awaited(0, Op::store, X, kLongestWait - kMemory + 1);
    after(1, 0, 0, 0);
    event(1, Op::store, X, 0);
    play();
    EXPECT_EQ(waits(1), 1U);
    EXPECT_EQ(stalled(1, Service::order), 0U);
    EXPECT_EQ(busy(1), kCacheToCache);
    EXPECT_EQ(source(1, Kind::store, Source::M), 1U);
}

TEST_F(OrderTest, AWaitForAStoreThatTheProcessorPollsForIsAStallOfAnyLength) {
    awaited(0, Op::store, X, 30'000);
    after(1, 0, 0, 10, Wait::store);
    event(1, Op::load, X, 0);
    play();
    EXPECT_EQ(stalled(1, Service::order), 29'990 + kMemory);
    EXPECT_EQ(busy(1), 30'000 + kMemory + kCacheToCache);
}

TEST_F(OrderTest, AStoreDoesNotWaitForTheTimeOfALoad) {
    awaited(0, Op::load, X, 150);
    after(1, 0, 0, 50, Wait::nothing);
    event(1, Op::store, X, 0);
    play();
    EXPECT_EQ(waits(1), 1U);
    EXPECT_EQ(stalled(1, Service::order), 0U);
    EXPECT_EQ(source(1, Kind::store, Source::E), 1U) << "it comes after the load";
}

TEST_F(OrderTest, AWaitOfAPollForALaterStoreIsAStallAndAnError) {
    awaited(0, Op::store, X, 30'000);
    after(1, 0, 0, 10, Wait::later);
    event(1, Op::load, X, 0);
    play();
    EXPECT_EQ(stalled(1, Service::order), 29'990 + kMemory);
    EXPECT_EQ(h.stats().core(Stat::wait_error_cycles, 1), 29'990 + kMemory);
}

TEST_F(OrderTest, AWaitOfAPollForOneTransferIsNotAnError) {
    awaited(0, Op::store, X, 20);
    after(1, 0, 0, 10 + kMemory, Wait::later);
    event(1, Op::load, X, 0);
    play();
    EXPECT_EQ(h.stats().core(Stat::wait_error_cycles, 1), 0U);
}

TEST_F(OrderTest, PollsAfterTheStoreThatEndsThemAreAnErrorOnce) {
    awaited(0, Op::load, X, 10'000);
    after(1, 0, 0, 50, Wait::polls);
    event(1, Op::store, X, 0);
    after(1, 0, 0, 50, Wait::polls);
    event(1, Op::store, X, 0);
    play();
    EXPECT_EQ(h.stats().core(Stat::wait_error_cycles, 0), 10'000 + kMemory - 50);
    EXPECT_EQ(stalled(1, Service::order), 0U);
}

TEST_F(OrderTest, APollThatWaitedForItsLinesIsNotAnError) {
    awaited(0, Op::load, X, 10);
    after(1, 0, 0, 50, Wait::polls);
    event(1, Op::store, X, 0);
    play();
    EXPECT_EQ(h.stats().core(Stat::wait_error_cycles, 0), 0U);
}

TEST_F(OrderTest, AfterALongWaitTheNextOnesAreComparedAsIfTheProcessorHadWaited) {
    awaited(0, Op::store, X, 20'000);  // ends at 20'000 + kMemory
    after(1, 0, 0, 10);
    awaited(1, Op::store, X, 0);  // as if it ended at 20'000 + kMemory + kCacheToCache
    after(0, 1, 0, 50);
    event(0, Op::store, X, 0);
    play();
    EXPECT_EQ(stalled(1, Service::order), 0U);
    EXPECT_EQ(busy(1), 10 + kCacheToCache);
    EXPECT_EQ(stalled(0, Service::order), kCacheToCache - 50);
    EXPECT_EQ(busy(0), 20'000 + kMemory + kCacheToCache + kCacheToCache);
}

TEST_F(OrderTest, AnAccessThatIsLaterAnywayDoesNotWait) {
    awaited(0, Op::store, X, 10);
    after(1, 0, 0, 10 + kMemory);
    event(1, Op::store, X, 0);
    play();
    EXPECT_EQ(waits(1), 0U);
    EXPECT_EQ(stalled(1, Service::order), 0U);
    EXPECT_EQ(busy(1), 10 + kMemory + kCacheToCache);
}

TEST_F(OrderTest, AWaitInTheTimeOfTheLastEventBelongsToItsContext) {
    awaited(0, Op::store, X, 100);
    after(1, 0, 0, 0);
    epoch.streams[1].events.back().context = Context(ProcessClass::kernel, KernelEntry::fault);
    event(1, Op::store, X, 0);
    play();
    EXPECT_EQ(h.stats().entry_stall(Context(ProcessClass::kernel, KernelEntry::fault), Service::order),
              100 + kMemory);
    EXPECT_EQ(h.stats().entry_stall(user, Service::order), 0U);
}

TEST_F(OrderTest, SeveralProcessorsWaitForOneEvent) {
    awaited(2, Op::store, X, 250);
    for (const unsigned p : {0U, 1U}) {
        after(p, 2, 0, 0);
        event(p, Op::load, X, 0);
    }
    play();
    EXPECT_EQ(source(0, Kind::load, Source::M), 1U);
    EXPECT_EQ(source(1, Kind::load, Source::O), 1U);
    EXPECT_EQ(stalled(0, Service::order), 250 + kMemory);
    EXPECT_EQ(stalled(1, Service::order), 250 + kMemory);
}

TEST_F(OrderTest, AProcessorWaitsForSeveralOthers) {
    awaited(0, Op::load, X, 300);
    awaited(1, Op::load, X, 5000);
    after(2, 0, 0, 290);
    after(2, 1, 0, 0);
    event(2, Op::store, X, 0);
    play();
    EXPECT_EQ(source(0, Kind::load, Source::memory), 1U);
    EXPECT_EQ(source(1, Kind::load, Source::E), 1U);
    EXPECT_EQ(source(2, Kind::store, Source::S) + source(2, Kind::store, Source::O) +
                  source(2, Kind::store, Source::E),
              1U);
    EXPECT_EQ(waits(2), 2U);
    EXPECT_EQ(stalled(2, Service::order), 10 + kMemory) << "the wait for the other one is too long";
}

TEST_F(OrderTest, EdgesNameAwaitedEventsByTheirNumber) {
    event(0, Op::load, Y, 10);
    awaited(0, Op::pass, 0, 10);  // in place of an access that every L1 absorbs
    awaited(0, Op::store, X, 20'000);
    after(1, 0, 1, 0);
    event(1, Op::load, X, 0);
    after(2, 0, 0, 0);
    event(2, Op::load, X, 0);
    play();
    EXPECT_EQ(source(2, Kind::load, Source::memory), 1U) << "it waits for the first of them alone";
    EXPECT_EQ(source(1, Kind::load, Source::M), 1U);
}

TEST_F(OrderTest, NumbersBeginAnewWithEachEpoch) {
    awaited(0, Op::store, X, 10);
    play();
    epoch = Epoch{3};
    awaited(0, Op::store, Y, 5000);
    after(1, 0, 0, 10);
    event(1, Op::load, Y, 0);
    play();
    EXPECT_EQ(source(1, Kind::load, Source::M), 1U);
}

/// Processor 0 has stored to X 100 cycles after the beginning of the next epoch, at whose beginning
/// processor 1 accesses X.
class NextEpochTest : public OrderTest {
protected:
    void SetUp() override {
        awaited(0, Op::store, X, 200);
        event(1, Op::load, Y, 0);
        play();
        ASSERT_EQ(merger.paces()[0].lead, 100 * TimingMerger::kUnit);
        ASSERT_EQ(merger.paces()[1].lead, -100 * TimingMerger::kUnit);
        epoch = Epoch{3};
    }
};

TEST_F(NextEpochTest, AWaitThatEndsInTheNextEpochIsAStall) {
    EXPECT_EQ(waits_for_last_epoch(50), 150U);
}

TEST_F(NextEpochTest, AnAccessThatIsLaterThanTheStoreOfTheLastEpochDoesNotWait) {
    EXPECT_EQ(waits_for_last_epoch(250), 0U);
}

TEST_F(OrderTest, NothingIsKnownOfTheEpochBeforeTheFirst) {
    EXPECT_EQ(waits_for_last_epoch(50), 0U);
}

TEST_F(OrderTest, AnAlternatingLineChangesHandsWithEachAccess) {
    for (std::uint32_t i = 0; i < 50; ++i) {
        for (const unsigned p : {0U, 1U}) {
            if (p == 1 || i != 0) {
                after(p, 1 - p, p == 1 ? i : i - 1, p == 0 ? 1 : 100);  // the second one's code is longer
            }
            awaited(p, Op::store, X, 0);
        }
    }
    play();
    EXPECT_EQ(sum(Stat::l2_misses), 100U);
    EXPECT_EQ(source(0, Kind::store, Source::M) + source(1, Kind::store, Source::M), 99U);
}

TEST_F(OrderTest, AnInterruptThatIsSentAfterAnEdgeWakesItsSleeper) {
    epoch.signals = 1;
    awaited(0, Op::store, X, 5000);
    after(1, 0, 0, 0);
    event(1, Op::load, X, 0);
    event(1, Op::signal, 0, 10);
    event(2, Op::wait, 0, 0);
    event(2, Op::load, X, 10);
    play();
    EXPECT_EQ(source(1, Kind::load, Source::M), 1U);
    EXPECT_EQ(source(2, Kind::load, Source::O), 1U);
}

TEST_F(OrderTest, AnEdgeToAProcessorThatDoesNotExistIsAnError) {
    after(1, 3, 0, 10);
    EXPECT_EQ(
        refusal(),
        "an ordering edge names processor 3, which the machine does not have: the recorded epoch is corrupt");
}

TEST_F(OrderTest, AnEdgeToAnEventThatDoesNotExistIsAnError) {
    awaited(0, Op::store, X, 10);
    after(1, 0, 1, 10);
    event(1, Op::store, X, 0);
    EXPECT_EQ(
        refusal(),
        "a processor waits for an interrupt that was never sent or for an access that was never played: the "
        "recorded epoch is corrupt");
}

TEST_F(OrderTest, EdgesInACircleAreAnError) {
    for (const unsigned p : {0U, 1U}) {
        after(p, 1 - p, 0, 10);
        awaited(p, Op::store, X, 0);
    }
    EXPECT_NE(refusal().find("the recorded epoch is corrupt"), std::string::npos);
}

TEST_F(OrderTest, AnEdgeToAnOwnLaterEventIsAnError) {
    after(0, 0, 0, 10);
    awaited(0, Op::store, X, 0);
    EXPECT_NE(refusal().find("the recorded epoch is corrupt"), std::string::npos);
}

TEST_F(OrderTest, AnErrorLeavesNothingForTheNextEpoch) {
    awaited(0, Op::store, X, 10);
    after(1, 0, 1, 10);
    EXPECT_NE(refusal(), "played");
    epoch = Epoch{3};
    event(1, Op::load, Y, 10);
    EXPECT_EQ(refusal(), "played");
}

TEST_F(OrderTest, TheCheckOfTheOrderFindsAViolation) {
    const std::vector<test::Access> executed{{0, X, Op::store, 5000}, {1, X, Op::load, 10}};
    Epoch epoch = test::epoch_of(executed, 3);
    for (const bool edges : {true, false}) {
        if (!edges) {
            epoch.streams[1].events[0].op = Op::pass;
        }
        Hierarchy hierarchy(small_machine(), moesi(), 1024);
        TimingMerger fresh(hierarchy);
        test::PlayedOrder order;
        fresh.observe(order);
        fresh.play(epoch);
        EXPECT_EQ(order.size(), 2U);
        EXPECT_EQ(order.violation(executed).has_value(), !edges);
    }
}

/// Whatever the machine and whatever the instructions between the accesses: no processor waits forever,
/// conflicting accesses are played as they were executed, and each cycle of a processor's clock is counted
/// once.
TEST(Order, ConflictingAccessesArePlayedAsTheyWereExecuted) {
    EXPECT_TRUE(rc::check([] {
        const auto executed = test::drawn_accesses(4);
        Machine machine = small_machine();
        machine.processors = 4;
        machine.quantum_cycles = *rc::gen::element(1U, 200U, 5000U);
        machine.base_cpi = *rc::gen::element(0.5, 1.0, 2.25);
        machine.latency.cache = *rc::gen::element(0U, 120U, 2000U);
        machine.threads_per_core = *rc::gen::element(1U, 2U);
        machine.issue_share = machine.threads_per_core == 2 ? 0.6 : 1.0;
        Hierarchy hierarchy(machine, moesi(), 1024);
        TimingMerger merger(hierarchy);
        test::PlayedOrder order;
        merger.observe(order);
        Epoch epoch = test::epoch_of(executed, 4);
        epoch.mark = Mark::interval;
        merger.play(epoch);
        RC_ASSERT(order.size() == executed.size());
        const auto violation = order.violation(executed);
        RC_LOG() << violation.value_or("");
        RC_ASSERT(!violation.has_value());
        for (unsigned p = 0; machine.threads_per_core == 1 && p < 4; ++p) {
            RC_ASSERT(merger.paces()[p].busy / TimingMerger::kUnit + order_stalls(hierarchy.stats(), p) ==
                      hierarchy.stats().core(Stat::busy_cycles, p));
        }
    }));
}

}  // namespace s80::model
