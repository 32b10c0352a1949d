// SPDX-License-Identifier: GPL-2.0-or-later
// The speed of a clock relative to simulated time. Guest time advances with the instructions of all
// processors together. Simulated time does not, and the ratio changes with the load.
#pragma once

#include <cstdint>

namespace s80::loadgen {

class TimeRatio {
public:
    /// `nominal`: nanoseconds of the clock per nanosecond of simulated time, until there are measurements.
    explicit TimeRatio(double nominal) : value_(nominal) {}

    /// Restarts at the present time with a nominal value.
    void restart(double nominal);

    /// Adds a reading of both clocks. Readings less than 10 ms of simulated time apart are ignored.
    void update(std::uint64_t clock_ns, std::uint64_t modelled_ns);

    /// Nanoseconds of the clock per nanosecond of simulated time, smoothed over a quarter of a simulated
    /// second.
    double value() const { return value_; }

private:
    double value_;
    bool begun_ = false;
    std::uint64_t clock_ns_ = 0;
    std::uint64_t modelled_ns_ = 0;
};

}  // namespace s80::loadgen
