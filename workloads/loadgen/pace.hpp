// SPDX-License-Identifier: GPL-2.0-or-later
// What the load generator does so that its guest lives on the modelled machine's time: it compares the
// guest's clocks with the modelled one, keeps the rate of the timer interrupts, and says how long to sleep.
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

    /// Takes up what a job asks for. Throws Fatal where the guest's kernel denies access to its timers.
    void take(const Job& job);

    /// Compares the clocks; every 50 modelled milliseconds the rate of the ticks is looked after. Whether it
    /// was changed.
    bool keep();

    /// Guest time to modelled time by the guest's timers, which end at ticks: who asks for a span by it gets
    /// as many ticks as the modelled machine would have given.
    double timer_ratio() const {
        return ticks_ && tick_hz_ > 0 ? ticks_->exact_at(tick_hz_) : ratio_.value();
    }
    /// Modelled time that such a span lasts, for each of it: the ticks are let be some percent off.
    double timer_skew() const { return timer_ratio() / ratio_.value(); }

    /// A modelled span in guest time, as a timeout for the kernel.
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
