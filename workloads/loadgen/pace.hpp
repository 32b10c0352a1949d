// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the guest's timing in line with simulated time: compares the guest's clocks with simulated time,
// regulates the rate of the timer interrupts, and determines how long to sleep.
#pragma once

#include <cstdint>
#include <optional>

#include "clock.hpp"
#include "job.hpp"
#include "ticks.hpp"
#include "time_ratio.hpp"

namespace s80::loadgen {

class Pace {
public:
    explicit Pace(const Clock& clock) : clock_(clock) {}

    /// Applies a job's settings. Throws Fatal if the guest's kernel denies access to its timers.
    void take(const Job& job);

    /// Compares the clocks, and regulates the rate of the timer interrupts every 50 ms of simulated time.
    /// Returns whether it changed the rate.
    bool keep();

    /// Ratio of guest time to simulated time for the guest's timers, which expire at ticks. A wait of this
    /// length covers as many ticks as on the modelled machine.
    double timer_ratio() const {
        return ticks_ && tick_hz_ > 0 ? ticks_->exact_at(tick_hz_) : ratio_.value();
    }
    /// Simulated time per requested time of such a wait. The rate of the ticks may be a few percent off.
    double timer_skew() const { return timer_ratio() / ratio_.value(); }

    /// A span of simulated time in guest time, as a timeout for the kernel.
    std::uint64_t guest_ns(std::uint64_t modelled_ns) const;

private:
    bool regulate();

    const Clock& clock_;
    double tick_hz_ = 0;
    double nominal_ = 1;
    std::optional<Ticks> ticks_;
    TimeRatio ratio_{1};  // of guest time, as the kernel keeps it
    std::uint64_t looked_ns_ = 0;
};

}  // namespace s80::loadgen
