// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock.h"

#include <ctime>

namespace s80::loadgen {

void Clock::refresh() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    const std::uint64_t now =
        static_cast<std::uint64_t>(time.tv_sec) * kNsPerS + static_cast<std::uint64_t>(time.tv_nsec);
    now_ = now >> shift_;
}

}  // namespace s80::loadgen
