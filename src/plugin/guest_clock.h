// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's clock: sets QEMU's virtual time, which the guest sees, to simulated time
// (docs/background/clock.md).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "plugin/virtual_time.h"

namespace s80::plugin {

/// Sets QEMU's virtual time so that each processor of the guest sees its own simulated time. Times are in
/// nanoseconds. Simulated time at the beginning of the open epoch is partly predicted, because the timing
/// merger reports it two epochs late.
class GuestClock {
public:
    /// What a checkpoint keeps of this class.
    struct State {
        bool runs = false;        ///< the guest's clock follows simulated time
        std::int64_t origin = 0;  ///< virtual time at which simulated time was 0, ns
    };
    /// `shift`: one nanosecond of simulated time is 2^shift nanoseconds of virtual time. It is above 0 if a
    /// processor can execute more than one instruction in a nanosecond, because virtual time must advance by
    /// at least 1 ns per instruction.
    GuestClock(VirtualTime& time, unsigned shift, const State& state)
        : time_(time), shift_(shift), state_(state) {}

    const State& state() const { return state_; }
    bool runs() const { return state_.runs; }
    /// From now on, virtual time follows simulated time. Its present value is kept, so that the guest sees no
    /// jump.
    void start(std::uint64_t simulated_ns) {
        epoch_ = static_cast<std::int64_t>(simulated_ns);
        state_.origin = time_.now() - (epoch_ << shift_);
        state_.runs = true;
    }
    /// An epoch begins. `known_ns`: simulated time at the end of the last epoch that the timing merger has
    /// reported. `since_ns`: predicted lengths of the two epochs since, and idle gaps.
    void begin_epoch(std::uint64_t known_ns, std::int64_t since_ns) {
        epoch_ = std::max(epoch_, static_cast<std::int64_t>(known_ns) + since_ns);
    }
    /// All processors slept until now. Moves the beginning of the epoch to the present virtual time. Returns
    /// the length of this idle gap, ns.
    std::int64_t end_gap() {
        // Rounded up, so that the guest's clock does not go back behind the timer that ended the gap.
        const std::int64_t gap =
            std::max<std::int64_t>((time_.now() - guest(epoch_) + rounding()) >> shift_, 0);
        epoch_ += gap;
        return gap;
    }
    /// Simulated time at the beginning of the open epoch, ns.
    std::int64_t epoch() const { return epoch_; }

    /// A time slice of a processor begins, `ns` after the beginning of the epoch. Sets virtual time. `last`:
    /// latest simulated time that the clock has shown on this processor; the clock never goes back behind it.
    void begin_slice(std::int64_t ns, std::int64_t& last) {
        if (state_.runs) {
            last = std::max(last, epoch_ + ns);
            time_.begin_slice(guest(last));
        }
    }
    /// A processor reads its clock, after this number of instructions of its time slice, when its expected
    /// time is `ns` after the beginning of the epoch. Moves virtual time forward to that time: until now it
    /// has advanced by one nanosecond per instruction only.
    void read(std::int64_t ns, std::uint64_t instructions, std::int64_t& last) {
        const std::int64_t behind = epoch_ + ns - since(instructions, last);
        if (state_.runs && behind > 0) {
            last += behind;
            time_.advance(behind << shift_);
        }
    }
    /// A processor's time slice ends. Updates `last`: virtual time has advanced by one nanosecond per
    /// instruction.
    void ran(std::uint64_t instructions, std::int64_t& last) const {
        if (state_.runs) {
            last = since(instructions, last);
        }
    }
    /// A time slice of this number of instructions has ended. Sets virtual time to the beginning of the epoch
    /// if one of the guest's timers is due by then; no processor's clock is behind that time. Otherwise sets
    /// virtual time to a time long ago: QEMU ends a time slice at the next timer at the latest, which is then
    /// far away.
    void end_slice(std::uint64_t instructions) {
        if (state_.runs) {
            const std::int64_t now = guest(epoch_);
            time_.end_slice(time_.next_timer() <= now ? now : now - kLongAgo, instructions);
        }
    }
    /// The last processor that was awake falls asleep. Sets virtual time to the beginning of the epoch; QEMU
    /// then moves it on to the next timer.
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
