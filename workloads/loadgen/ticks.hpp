// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's timer interrupts at the rate of the modelled machine (docs/background/clock.md). The kernel
// programs each processor's local APIC once, for 250 interrupts a second of guest time; the load generator,
// which sees both clocks, gives the timers another count, and again when guest time has come to run faster or
// slower.
#pragma once

#include <cstdint>
#include <optional>

#include "registers.hpp"

namespace s80::loadgen {

/// Which count the timers should have: decides, writes nothing.
class TickRate {
public:
    /// `kernel_count`: the kernel's own, for 250 interrupts a second of guest time. `tolerance`: each change
    /// takes the load generator to every processor, so smaller drifts are let be.
    TickRate(std::uint32_t kernel_count, double tolerance)
        : kernel_count_(kernel_count), tolerance_(tolerance), count_(kernel_count) {}

    /// The count for so many interrupts a modelled second (0: the kernel's) when a modelled second is so many
    /// of guest time; nothing while the present count is near enough.
    std::optional<std::uint32_t> change(double tick_hz, double guest_per_modelled);

    std::uint32_t count() const { return count_; }
    /// Guest time to modelled time at which the present count gives exactly so many interrupts a modelled
    /// second.
    double exact_at(double tick_hz) const;

private:
    std::uint32_t kernel_count_;
    double tolerance_;
    std::uint32_t count_;
};

class Ticks {
public:
    explicit Ticks(double tolerance);

    /// Keeps the rate; called now and then.
    void regulate(double tick_hz, double guest_per_modelled);

    double exact_at(double tick_hz) const { return rate_.exact_at(tick_hz); }

    /// How often the timers were given another count.
    std::uint64_t changes() const { return changes_; }

private:
    Registers apic_;
    TickRate rate_;
    std::uint64_t changes_ = 0;
};

}  // namespace s80::loadgen
