// SPDX-License-Identifier: GPL-2.0-or-later
// The rules of simulated time: the length of an epoch, the cost of a conflict and the longest wait. The
// timing merger (`TimingMerger`), which computes the true times, and the recording side, which predicts them,
// call the same functions (docs/background/clock.md).
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "machine/machine.h"
#include "stream/event.h"

namespace s80::model {

/// Units per cycle: all times are in 1/256 cycle.
inline constexpr std::int64_t kCycle = 256;

/// How much of a wait at an ordering edge is charged to the processor.
struct EdgeWait {
    /// The wait is charged; `stall` may be 0 nevertheless, because it is rounded down.
    bool stalls = false;
    std::int64_t stall = 0;   ///< the time that is charged as a stall
    std::int64_t behind = 0;  ///< the time that is not charged but kept: see TimeRules::keeps_behind
};

/// The rules as one of the two sides applies them. The members after the heading `differences` state where
/// the sides differ.
struct TimeRules {
    static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max() / 4;

    // Latencies of conflicts, in cycles:
    std::int64_t miss = 0;     ///< transfer of the line from another processor's cache
    std::int64_t upgrade = 0;  ///< invalidation of the copies in other processors' caches
    unsigned processors = 1;

    // --- differences between the two sides ---
    /// Waits are charged in whole cycles, so that simulated time advances by exactly the stalls that are
    /// counted.
    bool whole_cycles = true;
    /// A wait that is too long to be charged leaves the processor's clock too early. Until the end of the
    /// epoch, its times are compared with those of other processors as if it had waited.
    bool keeps_behind = true;
    /// If all processors sleep at the end of an epoch, the epoch's length also depends on processors that
    /// slept all the time.
    bool counts_sleepers = true;
    /// A wait is also charged if the stream has no edge for it, because an earlier edge already makes the
    /// processor wait for a later event of the same other processor. That earlier edge may be one whose wait
    /// is not charged.
    bool charges_without_edge = false;
    /// A processor can be ahead of the end of an epoch, or behind it, by at most this time.
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
    /// The value of `longest_lead` in cycles, that is, how far a processor's clock may be ahead of the end of
    /// an epoch, or behind it: 1 ms of simulated time, or 4 nominal epochs if they are longer.
    static std::int64_t longest_lead_cycles(const Machine& machine) {
        constexpr std::int64_t kEpochs = 4;
        return std::max(static_cast<std::int64_t>(machine.clock_hz / 1000), kEpochs * machine.epoch_cycles);
    }

    /// The time in which a line moves from one processor to another, including an upgrade.
    std::int64_t transfer() const { return (miss + upgrade) * kCycle; }
    /// The longest wait for a line that is charged: the line moves once to each processor.
    std::int64_t longest_wait() const { return processors * transfer(); }
    /// The stall of a conflicting access. `misses`: the processor does not have the line; otherwise it only
    /// needs an upgrade.
    std::int64_t conflict(bool misses) const { return (misses ? miss : upgrade) * kCycle; }
    /// How a wait at an ordering edge is charged. `time`: from the beginning of this access to the end of the
    /// awaited one; 0 or below if there is nothing to wait for. On the machine, a line moves at most once
    /// from each other processor before it reaches this one, so longest_wait() bounds the wait for a line. A
    /// longer time comes from QEMU, which executed the two time slices in another order than that of
    /// simulated time: then the edge only keeps the order, unless the processor polled.
    EdgeWait wait(Wait kind, std::int64_t time) const {
        if (time <= 0 || kind == Wait::nothing || kind == Wait::polls) {
            return {};
        }
        if ((kind == Wait::transfer || kind == Wait::before) && time > longest_wait()) {
            return {false, 0, kind == Wait::transfer && keeps_behind ? time : 0};
        }
        return {true, whole_cycles ? time / kCycle * kCycle : time, 0};
    }
    /// The lead: when a processor begins the next epoch, relative to the beginning of that epoch. `end`: the
    /// processor's time at the end of this epoch. `length`: of this epoch. `awake`: whether it is awake then;
    /// a sleeping processor cannot wake before it fell asleep.
    std::int64_t lead(std::int64_t end, std::int64_t length, bool awake) const {
        return std::max(end - length, awake ? -longest_lead : 0);
    }
};

/// Computes the length of an epoch: the mean of the times that the processors needed which are awake at its
/// end. If all sleep, the time at which the last one fell asleep.
class EpochLength {
public:
    explicit EpochLength(const TimeRules& rules) : rules_(rules) {}

    /// Adds a processor. `time`: its clock at the end of the epoch, since the epoch began. `ran`: it executed
    /// in this epoch.
    void add(std::int64_t time, bool awake, bool ran) {
        if (ran || rules_.counts_sleepers) {
            last_ = std::max(last_, time);
        }
        if (awake) {
            sum_ += time;
            ++awake_;
        }
    }
    /// The length, after all processors have been added. In a replay on another machine, one processor may
    /// need longer than the others in each epoch, so that its lead grows. When its lead would exceed the
    /// bound, the epoch becomes longer, as if the other processors had waited.
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
