// SPDX-License-Identifier: GPL-2.0-or-later
// The rules of simulated time that two sides apply: the timing merger (`TimingMerger`), which knows the true
// times, and the recording side, which expects them (docs/background/clock.md).
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "machine/machine.h"
#include "stream/event.h"

namespace s80::model {

/// The length of a cycle: all times are in 1/256 cycle.
inline constexpr std::int64_t kCycle = 256;

/// The wait of a processor at an ordering edge.
struct EdgeWait {
    bool stalls = false;      ///< the wait is charged; `stall` may be 0, because it is rounded down
    std::int64_t stall = 0;   ///< the charged part of the wait
    std::int64_t behind = 0;  ///< see TimeRules::keeps_behind
};

/// The rules as one side applies them. The members below `What differs` state where the two sides differ.
struct TimeRules {
    static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 4;

    // Latencies of conflicts, in cycles:
    std::int64_t miss = 0;     ///< the line is transferred from another processor
    std::int64_t upgrade = 0;  ///< a store invalidates the copies of other processors
    unsigned processors = 1;

    // What differs:
    /// Waits are charged in whole cycles, so that the counted stalls are the time that passes.
    bool whole_cycles = true;
    /// After a wait that is too long to be charged, the processor is behind the others. Until the end of the
    /// epoch its times are compared with those of others as if it had waited.
    bool keeps_behind = true;
    /// If all processors sleep at the end of an epoch, its length also depends on those that slept from its
    /// beginning.
    bool counts_sleepers = true;
    /// A wait is charged even if the stream has no edge for it, because an earlier edge already waits for a
    /// later event of the other processor. That earlier edge may be one that keeps only the order.
    bool charges_without_edge = false;
    /// A processor is at most so far ahead of the end of its epoch, and at most so far behind.
    std::int64_t longest_lead = kUnbounded;

    /// The rules of the timing merger.
    static TimeRules of_merger(const Machine& machine) {
        TimeRules rules;
        rules.miss = machine.latency.cache;
        rules.upgrade = machine.latency.upgrade;
        rules.processors = machine.processors;
        rules.longest_lead = longest_lead_cycles(machine) * kCycle;
        return rules;
    }
    /// The rules of the recording side.
    static TimeRules of_recorder(const Machine& machine) {
        TimeRules rules = of_merger(machine);
        rules.whole_cycles = false;
        rules.keeps_behind = false;
        rules.counts_sleepers = false;
        rules.charges_without_edge = true;
        rules.longest_lead = kUnbounded;
        return rules;
    }
    /// 1 ms, or 4 epochs if that is longer.
    static std::int64_t longest_lead_cycles(const Machine& machine) {
        constexpr std::int64_t kEpochs = 4;
        return std::max(static_cast<std::int64_t>(machine.clock_hz / 1000), kEpochs * machine.epoch_cycles);
    }

    /// The time in which a line moves to another processor, with the upgrade.
    std::int64_t transfer() const { return (miss + upgrade) * kCycle; }
    /// The longest wait for a line: it moves to each processor once.
    std::int64_t longest_wait() const { return processors * transfer(); }
    /// The stall of an access that conflicts. `misses`: the processor does not have the line.
    std::int64_t conflict(bool misses) const { return (misses ? miss : upgrade) * kCycle; }
    /// The wait at an edge of this kind. `time`: from the beginning of this access to the end of the awaited
    /// one; not above 0 if the awaited one ended before. A line moves at most once from each processor before
    /// it comes to this one. If the time is longer, the processor would not have waited for the line: QEMU
    /// executed its time slice after one that is later in simulated time. Then only the order is kept, unless
    /// the processor polled.
    EdgeWait wait(Wait kind, std::int64_t time) const {
        if (time <= 0 || kind == Wait::nothing || kind == Wait::polls) {
            return {};
        }
        if ((kind == Wait::transfer || kind == Wait::before) && time > longest_wait()) {
            return {false, 0, kind == Wait::transfer && keeps_behind ? time : 0};
        }
        return {true, whole_cycles ? time / kCycle * kCycle : time, 0};
    }
    /// The time at which a processor begins the next epoch, relative to the beginning of that epoch. `end`:
    /// its time at the end of an epoch of this length. `awake`: at that end. A sleeping processor cannot wake
    /// before it fell asleep.
    std::int64_t lead(std::int64_t end, std::int64_t length, bool awake) const {
        return std::max(end - length, awake ? -longest_lead : 0);
    }
};

/// The length of an epoch: what the processors that are awake at its end needed on average; if all sleep,
/// what the last one needed.
class EpochLength {
public:
    explicit EpochLength(const TimeRules& rules) : rules_(rules) {}

    /// A processor has ended the epoch. `time`: since the epoch began. `ran`: it executed in this epoch.
    void add(std::int64_t time, bool awake, bool ran) {
        if (ran || rules_.counts_sleepers) {
            last_ = std::max(last_, time);
        }
        if (awake) {
            sum_ += time;
            ++awake_;
        }
    }
    /// The length. In a replay on another machine, one processor may need longer than the others in every
    /// epoch. When its lead reaches the bound, the epoch is as long as this processor needs, as if the others
    /// had waited.
    std::int64_t value() const {
        const std::int64_t mean = awake_ != 0 ? sum_ / awake_ : last_;
        return std::max({mean, last_ - rules_.longest_lead, std::int64_t{0}});
    }

private:
    const TimeRules& rules_;
    std::int64_t sum_ = 0;
    std::int64_t awake_ = 0;
    std::int64_t last_ = 0;
};

}  // namespace s80::model
