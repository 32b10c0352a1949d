// SPDX-License-Identifier: GPL-2.0-or-later
// The rules of time: what the recording side expects is what the timing merger finds, where the recording
// side knows all times and both have the same rules.
#include <gtest/gtest.h>

#include "timing/rules.h"

namespace s80::plugin {

using model::TimeRules;
using model::Wait;

namespace {

constexpr unsigned kGuestProcessors = 4;

/// Only conflicts take time: misses that memory or the L2 services take none. A nanosecond is 1/256 cycle, so
/// that the guest's clock is exact.
model::Machine machine(unsigned epoch_cycles) {
    model::Machine m;
    m.name = "conflicts";
    m.processors = kGuestProcessors;
    m.clock_hz = 1'000'000'000 / model::kCycle;
    m.line_bytes = 128;
    m.l1i = m.l1d = {512, 2};
    m.l2 = {65'536, 4};
    m.latency = {0, 0, 120, 60};
    m.epoch_cycles = epoch_cycles;
    return m;
}

}  // namespace

TEST(TimeRules, AWaitForALineIsChargedUpToOneTransferFromEachProcessor) {
    const TimeRules rules = TimeRules::of_merger(machine(1'000));
    const std::int64_t longest = 4 * (120 + 60) * model::kCycle;
    EXPECT_EQ(rules.wait(Wait::transfer, longest).stall, longest);
    EXPECT_EQ(rules.wait(Wait::before, longest).stall, longest);
    EXPECT_FALSE(rules.wait(Wait::transfer, longest + 1).stalls);
    EXPECT_FALSE(rules.wait(Wait::before, longest + 1).stalls);
    EXPECT_EQ(rules.wait(Wait::transfer, longest + 1).behind, longest + 1);
    EXPECT_EQ(rules.wait(Wait::before, longest + 1).behind, 0);
    for (const Wait polled : {Wait::store, Wait::later}) {
        EXPECT_EQ(rules.wait(polled, 10 * longest).stall, 10 * longest);
    }
    for (const Wait ordered : {Wait::nothing, Wait::polls}) {
        EXPECT_FALSE(rules.wait(ordered, 10).stalls);
    }
}

TEST(TimeRules, OnlyTheMergerChargesWholeCyclesAndComparesAsIfItHadWaited) {
    const TimeRules merger = TimeRules::of_merger(machine(1'000));
    const TimeRules recorder = TimeRules::of_recorder(machine(1'000));
    EXPECT_EQ(merger.wait(Wait::transfer, 1'000).stall, 768);
    EXPECT_EQ(recorder.wait(Wait::transfer, 1'000).stall, 1'000);
    EXPECT_EQ(recorder.wait(Wait::transfer, recorder.longest_wait() + 1).behind, 0);
}

TEST(TimeRules, OnlyTheMergerBoundsTheLeadAndCountsSleepers) {
    const TimeRules merger = TimeRules::of_merger(machine(1'000));
    const TimeRules recorder = TimeRules::of_recorder(machine(1'000));
    const std::int64_t bound = merger.longest_lead;
    const auto length = [bound](const TimeRules& rules, bool awake) {
        model::EpochLength ended(rules);
        ended.add(0, awake, true);
        ended.add(10 * bound, false, false);
        return ended.value();
    };
    EXPECT_EQ(length(merger, false), 10 * bound);
    EXPECT_EQ(length(recorder, false), 0);
    EXPECT_EQ(length(merger, true), 9 * bound);
    EXPECT_EQ(length(recorder, true), 0);
    EXPECT_EQ(merger.lead(0, 10 * bound, true), -bound);
    EXPECT_EQ(recorder.lead(0, 10 * bound, true), -10 * bound);
    EXPECT_EQ(merger.lead(0, 10 * bound, false), 0) << "it cannot wake before";
}

}  // namespace s80::plugin
