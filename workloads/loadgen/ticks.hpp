// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the kernel's timer interrupts at the rate of the modelled machine (docs/background/clock.md). The
// kernel programs each processor's local APIC once, for 250 interrupts per second of guest time. The load
// generator sees both clocks. It changes the timers' count, and changes it again when the speed of guest
// time has drifted.
#pragma once

#include <cstdint>
#include <optional>

#include "registers.hpp"

namespace s80::loadgen {

/// Decides which count the timers should have; does not write it.
class TickRate {
public:
    /// `kernel_count`: the kernel's own count, for 250 interrupts per second of guest time. `tolerance`:
    /// drifts below it are ignored, because each change has to visit every processor.
    TickRate(std::uint32_t kernel_count, double tolerance)
        : kernel_count_(kernel_count), tolerance_(tolerance), count_(kernel_count) {}

    /// The new count for `tick_hz` interrupts per second of simulated time (0: the kernel's), at
    /// `guest_per_modelled` seconds of guest time per second of simulated time. Nothing if the present count
    /// is close enough.
    std::optional<std::uint32_t> change(double tick_hz, double guest_per_modelled);

    std::uint32_t count() const { return count_; }
    /// The ratio of guest time to simulated time at which the present count gives exactly `tick_hz`
    /// interrupts per second of simulated time.
    double exact_at(double tick_hz) const;

private:
    std::uint32_t kernel_count_;
    double tolerance_;
    std::uint32_t count_;
};

class Ticks {
public:
    explicit Ticks(double tolerance);

    /// Regulates the rate. Called at intervals.
    void regulate(double tick_hz, double guest_per_modelled);

    double exact_at(double tick_hz) const { return rate_.exact_at(tick_hz); }

    /// The number of changes of the timers' count.
    std::uint64_t changes() const { return changes_; }

private:
    Registers apic_;
    TickRate rate_;
    std::uint64_t changes_ = 0;
};

}  // namespace s80::loadgen
