// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeping processors, and the idle time while all of them sleep.
#include "plugin/recorder.h"
#include "plugin/registers.h"

namespace s80::plugin {

namespace {

/// Guest time is compared with the instruction count at least this often.
constexpr std::uint64_t kTscInterval = 100'000;

}  // namespace

void Recorder::rdtsc(Lane& lane) {
    lane.attention |= kTsc;
    lane.tsc_total = windows_->total_instructions();
}

void Recorder::halted(Lane& lane) {
    if (!lane.bound()) {
        return;
    }
    windows_->sleep(lane);
}

/// Under icount guest time is the number of instructions plus the jumps over idle time, and the time-stamp
/// counter shows it in nanoseconds.
void Recorder::read_tsc(Lane& lane) {
    if (!windows_->gap_pending() && lane.tsc_total - tsc_read_at_ < kTscInterval && tsc_known_) {
        return;
    }
    const std::uint64_t tsc =
        read_register(Register::rdx) << 32 | (read_register(Register::rax) & 0xffff'ffffU);
    const std::int64_t bias = static_cast<std::int64_t>(tsc) - static_cast<std::int64_t>(lane.tsc_total);
    if (windows_->gap_pending()) {
        windows_->end_gap(tsc_known_ && bias > tsc_bias_ ? static_cast<std::uint64_t>(bias - tsc_bias_) : 0);
    }
    tsc_known_ = true;
    tsc_bias_ = bias;
    tsc_read_at_ = lane.tsc_total;
}

}  // namespace s80::plugin
