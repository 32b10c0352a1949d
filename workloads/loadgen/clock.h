// SPDX-License-Identifier: GPL-2.0-or-later
// The clock of the load generator: the monotonic clock of the guest or host, in simulated time.
#pragma once

#include <cstdint>
#include <string_view>

namespace s80::loadgen {

inline constexpr std::uint64_t kNsPerS = 1'000'000'000;

class Clock {
public:
    /// `name`: whose clock it is, "guest" or "host".
    explicit Clock(std::string_view name) : name_(name) { refresh(); }
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;

    /// From now on 2^shift seconds of the monotonic clock are one simulated second.
    void set_shift(unsigned shift) {
        shift_ = shift;
        refresh();
    }
    /// Reads the time. Called once per iteration of the event loop.
    void refresh();

    /// Simulated time in nanoseconds.
    std::uint64_t now() const { return now_; }
    /// A span of simulated time on the monotonic clock, which the kernel's timers use.
    std::uint64_t monotonic_ns(std::uint64_t simulated_ns) const { return simulated_ns << shift_; }
    std::string_view name() const { return name_; }

private:
    std::string_view name_;
    unsigned shift_ = 0;
    std::uint64_t now_ = 0;
};

}  // namespace s80::loadgen
