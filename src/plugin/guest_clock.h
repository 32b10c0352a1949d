// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's clock: sets QEMU's virtual time to simulated time (docs/background/clock.md).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "plugin/virtual_time.h"

namespace s80::plugin {

/// Simulated time at the beginning of an epoch is partly predicted: the timing merger reports it two epochs
/// late.
class GuestClock {
public:
    /// State for a checkpoint.
    struct State {
        bool runs = false;        ///< the guest's clock follows simulated time
        std::int64_t origin = 0;  ///< virtual time when simulated time was 0, ns
    };
    /// `shift`: the guest's nanosecond is 2^-shift simulated nanoseconds. It is above 0 where a processor can
    /// execute more than one instruction per nanosecond, the resolution of virtual time.
    GuestClock(VirtualTime& time, unsigned shift, const State& state)
        : time_(time), shift_(shift), state_(state) {}

    const State& state() const { return state_; }
    bool runs() const { return state_.runs; }
    /// From now on the guest's clock follows simulated time, and goes on from where it is.
    void start(std::uint64_t simulated_ns) {
        epoch_ = static_cast<std::int64_t>(simulated_ns);
        state_.origin = time_.now() - (epoch_ << shift_);
        state_.runs = true;
    }
    /// An epoch begins. `known_ns`: simulated time two epochs ago. `since_ns`: predicted lengths of these
    /// epochs and the idle gaps since.
    void begin_epoch(std::uint64_t known_ns, std::int64_t since_ns) {
        epoch_ = std::max(epoch_, static_cast<std::int64_t>(known_ns) + since_ns);
    }
    /// All processors slept; the epoch begins later.
    std::int64_t end_gap() {
        // Rounded up: the guest's clock never goes back behind the timer that ended the gap.
        const std::int64_t gap =
            std::max<std::int64_t>((time_.now() - guest(epoch_) + rounding()) >> shift_, 0);
        epoch_ += gap;
        return gap;
    }
    /// Simulated time at which the epoch began, ns.
    std::int64_t epoch() const { return epoch_; }

    /// A time slice begins. `ns`: since the epoch began. `last`: the processor's latest time, which it never
    /// goes behind.
    void begin_slice(std::int64_t ns, std::int64_t& last) {
        if (state_.runs) {
            last = std::max(last, epoch_ + ns);
            time_.begin_slice(guest(last));
        }
    }
    /// The processor reads its clock after so many instructions of its time slice, at this time since the
    /// epoch began. Until now its clock went on by a nanosecond per instruction.
    void read(std::int64_t ns, std::uint64_t instructions, std::int64_t& last) {
        const std::int64_t behind = epoch_ + ns - since(instructions, last);
        if (state_.runs && behind > 0) {
            last += behind;
            time_.advance(behind << shift_);
        }
    }
    /// A time slice ends, in which the processor's clock went on by a nanosecond per instruction.
    void ran(std::uint64_t instructions, std::int64_t& last) const {
        if (state_.runs) {
            last = since(instructions, last);
        }
    }
    /// A time slice of so many instructions has ended. Sets virtual time to the beginning of the epoch if a
    /// timer is due by then: no processor's clock is behind that time. Otherwise sets it to a time long ago,
    /// because QEMU bounds time slices by the time to the next timer.
    void end_slice(std::uint64_t instructions) {
        if (state_.runs) {
            const std::int64_t now = guest(epoch_);
            time_.end_slice(time_.next_timer() <= now ? now : now - kLongAgo, instructions);
        }
    }
    /// The last processor that was awake falls asleep: QEMU moves virtual time on to the next timer.
    void sleep(std::uint64_t instructions) {
        if (state_.runs) {
            time_.end_slice(guest(epoch_), instructions);
        }
    }

private:
    static constexpr std::int64_t kLongAgo = 1'000'000'000;

    std::int64_t since(std::uint64_t instructions, std::int64_t last) const {
        return last + ((static_cast<std::int64_t>(instructions) + rounding()) >> shift_);
    }
    std::int64_t rounding() const { return (std::int64_t{1} << shift_) - 1; }
    std::int64_t guest(std::int64_t simulated_ns) const { return state_.origin + (simulated_ns << shift_); }

    VirtualTime& time_;
    const unsigned shift_;
    State state_;
    std::int64_t epoch_ = 0;
};

}  // namespace s80::plugin
