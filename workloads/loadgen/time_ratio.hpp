// SPDX-License-Identifier: GPL-2.0-or-later
// How fast one clock runs beside the modelled one. Guest time goes with the instructions of all processors
// together, modelled time does not, and how far they part changes with the load.
#pragma once

#include <cstdint>

namespace s80::loadgen {

class TimeRatio {
public:
    /// `nominal`: nanoseconds of the clock in a modelled nanosecond, until there is more to go by.
    explicit TimeRatio(double nominal) : value_(nominal) {}

    /// Starts anew from here with a nominal value.
    void restart(double nominal);

    /// Takes both clocks' readings in; readings closer than 10 modelled milliseconds are passed over.
    void update(std::uint64_t clock_ns, std::uint64_t modelled_ns);

    /// Nanoseconds of the clock in a modelled nanosecond, smoothed over a quarter of a modelled second.
    double value() const { return value_; }

private:
    double value_;
    bool begun_ = false;
    std::uint64_t clock_ns_ = 0;
    std::uint64_t modelled_ns_ = 0;
};

}  // namespace s80::loadgen
