// SPDX-License-Identifier: GPL-2.0-or-later
#include "time_ratio.hpp"

#include <algorithm>

namespace s80::loadgen {

namespace {

constexpr std::uint64_t shortest_ns = 10'000'000;
constexpr double smoothing_ns = 0.25e9;

}  // namespace

void TimeRatio::restart(double nominal) {
    value_ = nominal;
    begun_ = false;
}

void TimeRatio::update(std::uint64_t clock_ns, std::uint64_t modelled_ns) {
    if (begun_ && modelled_ns - modelled_ns_ < shortest_ns) return;
    if (begun_) {
        const auto modelled = static_cast<double>(modelled_ns - modelled_ns_);
        const double ratio = static_cast<double>(clock_ns - clock_ns_) / modelled;
        value_ += (ratio - value_) * std::min(1.0, modelled / smoothing_ns);
    }
    begun_ = true;
    clock_ns_ = clock_ns;
    modelled_ns_ = modelled_ns;
}

}  // namespace s80::loadgen
