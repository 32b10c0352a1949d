// SPDX-License-Identifier: GPL-2.0-or-later
#include "scripts/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace s80::loadgen {
namespace {

/// What became of the passes of an open script.
struct Course {
    std::uint64_t arrived, queued, begun, waiting;
};

Task client(Arrivals& arrivals, Timers& timers, const std::uint64_t& now, std::uint64_t& begun,
            double service_ns) {
    Timer timer;
    for (;;) {
        arrivals.await(timer);
        co_await timer;
        ++begun;
        timers.arm(timer, now + static_cast<std::uint64_t>(service_ns));
        co_await timer;
    }
}

/// So many clients for so many seconds, a pass of each so long, on a clock that goes from timer to timer.
Course course(double rate, double service_s, unsigned clients, double seconds, double ramp_s = 0) {
    Clock clock("host");
    Timers timers;
    Statistics statistics(1);
    Arrivals arrivals(clock, timers, statistics, 0);
    Script script;
    script.rate_per_s = rate;
    script.ramp_s = ramp_s;
    std::uint64_t begun = 0, now = clock.now();
    const std::uint64_t end = now + static_cast<std::uint64_t>(seconds * 1e9);
    arrivals.begin(script, 7);
    std::vector<Task> tasks;
    for (unsigned i = 0; i < clients; ++i) {
        tasks.push_back(client(arrivals, timers, now, begun, service_s * 1e9));
        tasks.back().start();
    }
    while (timers.next() <= end) {
        now = std::max(now, timers.next());
        timers.fire(now);
    }
    const ArrivalStatistics& counted = statistics.region().arrivals[0];
    return {counted.count, counted.queued, begun, statistics.waiting(0)};
}

TEST(Arrivals, ComeAtTheirRateWhetherAnybodyIsFreeOrNot) {
    const Course idle = course(100, 0.001, 50, 100);
    EXPECT_NEAR(static_cast<double>(idle.arrived), 10'000,
                300);  // three standard deviations of a Poisson count
    EXPECT_EQ(idle.queued, 0u);
    EXPECT_EQ(idle.begun, idle.arrived);
    const Course late = course(100, 0.05, 1, 100);  // a client that can do 20 a second
    EXPECT_EQ(late.arrived, idle.arrived);
    EXPECT_NEAR(static_cast<double>(late.begun), 2'000, 2);
    EXPECT_EQ(late.begun + late.waiting, late.arrived);
    EXPECT_GT(late.queued, late.waiting);
}

TEST(Arrivals, WaitAsQueueingTheoryHasIt) {
    // One server, exponential arrivals, constant service, half of the time busy: half of the arrivals wait.
    const Course half = course(10, 0.05, 1, 2'000);
    EXPECT_NEAR(static_cast<double>(half.queued) / static_cast<double>(half.arrived), 0.5, 0.02);
}

TEST(Arrivals, BecomeMoreOverTheRamp) {
    const Course ramped = course(100, 0.001, 50, 100, 100);
    EXPECT_NEAR(static_cast<double>(ramped.arrived), 5'000, 220);
}

}  // namespace
}  // namespace s80::loadgen
