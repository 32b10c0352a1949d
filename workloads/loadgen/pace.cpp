// SPDX-License-Identifier: GPL-2.0-or-later
#include "pace.hpp"

#include <cmath>
#include <ctime>

namespace s80::loadgen {

namespace {

constexpr std::uint64_t look_every_ns = 50'000'000;

std::uint64_t guest_now_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * ns_per_s + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

void Pace::take(const Job& job) {
    if (job.time_ratio != nominal_) ratio_.restart(nominal_ = job.time_ratio);
    tick_hz_ = job.tick_hz;
    if (tick_hz_ > 0 && !ticks_) ticks_.emplace(job.tick_tolerance);
    regulate();
}

bool Pace::keep() {
    if (!clock_.modelled()) return false;
    ratio_.update(guest_now_ns(), clock_.now());
    if (clock_.now() - looked_ns_ < look_every_ns) return false;
    looked_ns_ = clock_.now();
    return regulate();
}

bool Pace::regulate() {
    if (!ticks_) return false;
    const std::uint64_t before = ticks_->changes();
    ticks_->regulate(tick_hz_, ratio_.value());
    return ticks_->changes() != before;
}

std::uint64_t Pace::guest_ns(std::uint64_t modelled_ns) const {
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(modelled_ns) * ratio_.value()));
}

}  // namespace s80::loadgen
