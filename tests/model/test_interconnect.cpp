// SPDX-License-Identifier: GPL-2.0-or-later
// Bus and memory that can be busy, on hand-made epochs (1 GHz, so one cycle is one nanosecond).
#include "memory/home/interconnect.h"

#include "small_machine.h"
#include "timing/merger.h"

namespace s80::model {

namespace {

constexpr unsigned kRequests = 1000;  // of each processor
constexpr unsigned kBetween = 10;     // instructions between two of them

Machine with(Bandwidth bandwidth) {
    Machine m = small_machine();
    m.bandwidth = bandwidth;
    m.check("the test's machine");
    return m;
}

/// Three processors that miss all the time, each on lines of its own; every other access is a store.
struct Misses {
    explicit Misses(Bandwidth bandwidth, Kind kind = Kind::load)
        : h(with(bandwidth), moesi(), 8 * kRequests), merger(h) {
        Epoch epoch{3};
        for (unsigned p = 0; p < 3; ++p) {
            Stream& s = epoch.streams[p];
            for (unsigned i = 0; i < kRequests; ++i) {
                s.events.push_back(Event{p * kRequests + i, kBetween, 0, static_cast<Op>(kind), 0,
                                         Context(Privilege::user, ProcessClass::session)});
            }
            s.size = s.events.size();
            s.ran = s.runs_on = true;
        }
        merger.play(epoch);
    }
    std::uint64_t of(Stat s, Resource r) { return h.stats().resource(s, r); }
    double cycles_a_request() const { return static_cast<double>(merger.clock_ns()) / (3.0 * kRequests); }

    Hierarchy h;
    TimingMerger merger;
};

constexpr double kUnqueued = (kBetween + kMemory) / 3.0;

}  // namespace

TEST(Interconnect, WithoutBandwidthNothingWaitsOrIsCounted) {
    Misses run({});
    EXPECT_DOUBLE_EQ(run.cycles_a_request(), kUnqueued);
    EXPECT_EQ(run.h.stats().sum(Stat::queue_requests), 0U);
}

TEST(Interconnect, ThroughputEndsAtWhatMemoryCanServe) {
    Misses run({0, 60, 1});
    EXPECT_NEAR(run.cycles_a_request(), 60, 0.05 * 60);
    EXPECT_EQ(run.of(Stat::queue_requests, Resource::memory), 3 * kRequests);
    EXPECT_EQ(run.of(Stat::queue_requests, Resource::bus), 0U);
}

TEST(Interconnect, ThroughputEndsAtWhatTheBusCanTake) {
    Misses run({50, 0, 1});
    EXPECT_NEAR(run.cycles_a_request(), 50, 0.05 * 50);
}

TEST(Interconnect, MoreBanksServeMore) {
    Misses one({0, 60, 1});
    Misses two({0, 60, 2});
    EXPECT_LT(two.cycles_a_request(), one.cycles_a_request() * 0.75);
    EXPECT_GE(two.cycles_a_request(), kUnqueued);
}

TEST(Interconnect, EveryBlockWrittenBackTakesTheBusAndMemoryToo) {
    Misses run({10, 60, 1}, Kind::store);
    const std::uint64_t written = run.h.stats().sum(Stat::l2_writebacks);
    EXPECT_GT(written, 2 * kRequests);
    EXPECT_EQ(run.of(Stat::queue_requests, Resource::bus), 3 * kRequests + written);
    EXPECT_EQ(run.of(Stat::queue_requests, Resource::memory), 3 * kRequests + written);
    EXPECT_NEAR(run.cycles_a_request(), 120, 0.05 * 120);
}

TEST(Interconnect, AWaitIsPartOfTheStall) {
    Misses run({0, 60, 1});
    const std::uint64_t waits = run.h.stats().sum(Stat::queue_wait_cycles);
    EXPECT_EQ(run.h.stats().sum(Stat::stall_cycles), std::uint64_t{3} * kRequests * kMemory + waits);
    EXPECT_EQ(run.h.stats().sum(Stat::entry_stall_cycles), run.h.stats().sum(Stat::stall_cycles));
}

TEST(Interconnect, WhatLiesBeforeTheNextEpochIsForgotten) {
    Misses run({10, 60, 1});
    // Behind the words that name the bandwidth, how many busy times of the bus and of memory there are.
    EXPECT_LT(run.h.home().state().size(), 3U + 2 + 2 * 10);
}

TEST(Interconnect, ACacheThatSuppliesTakesNoMemoryUnlessItIsCopiedThere) {
    Hierarchy moesi_machine(with({10, 60, 1}), moesi(), 64);
    Hierarchy mesi_machine(with({10, 60, 1}), shipped("mesi"), 64);
    for (Hierarchy* h : {&moesi_machine, &mesi_machine}) {
        const Context user(Privilege::user, ProcessClass::session);
        h->access(0, 4, Kind::store, user);
        h->access(1, 4, Kind::load, user);
        EXPECT_EQ(h->stats().resource(Stat::queue_requests, Resource::bus), 2U);
    }
    EXPECT_EQ(moesi_machine.stats().resource(Stat::queue_requests, Resource::memory), 1U);
    EXPECT_EQ(mesi_machine.stats().resource(Stat::queue_requests, Resource::memory), 2U);
}

}  // namespace s80::model
