// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeping processors, and the idle time when all of them sleep.
#include "plugin/recorder.h"
#include "plugin/registers.h"

namespace s80::plugin {

using model::Op;

namespace {

/// Guest time is compared with the instruction count at least this often.
constexpr std::uint64_t kTscInterval = 100'000;

}  // namespace

void Recorder::rdtsc(Lane& lane) {
    lane.attention |= kTsc;
    lane.tsc_total = total_instructions();
}

void Recorder::halted(Lane& lane) {
    if (!lane.bound()) {
        return;
    }
    lane.attention |= kHalted;
    halted_ |= 1U << lane.processor;
    const std::uint32_t everyone = ~std::uint32_t{0} >> (model::kMaxCores - lanes_.size());
    if (halted_ == everyone) {
        close_window(schedule_.due(total_instructions()));
        gap_pending_ = true;
    }
}

void Recorder::wake(Lane& lane) {
    halted_ &= ~(1U << lane.processor);
    lane.attention &= ~static_cast<std::uint32_t>(kHalted);
    new_slice(lane);  // what others stored meanwhile must be seen
    if (lane.wake_signal >= 0) {
        emit(lane, static_cast<model::Line>(lane.wake_signal), Op::wait);
        if (lane.wake_signal < 0) {  // emit began a new window: the interrupt was sent before it
            lane.out[-1].op = Op::pass;
        }
        lane.wake_signal = -1;
    }
}

/// Under icount guest time is the number of instructions plus the jumps over idle time, and the time-stamp
/// counter shows it in nanoseconds.
void Recorder::read_tsc(Lane& lane) {
    if (!gap_pending_ && lane.tsc_total - tsc_read_at_ < kTscInterval && tsc_known_) {
        return;
    }
    const std::uint64_t tsc =
        read_register(Register::rdx) << 32 | (read_register(Register::rax) & 0xffff'ffffU);
    const std::int64_t bias = static_cast<std::int64_t>(tsc) - static_cast<std::int64_t>(lane.tsc_total);
    if (gap_pending_ && tsc_known_ && bias > tsc_bias_) {
        window_->idle_before_ns += static_cast<std::uint64_t>(bias - tsc_bias_);
        publish();
    }
    gap_pending_ = false;
    tsc_known_ = true;
    tsc_bias_ = bias;
    tsc_read_at_ = lane.tsc_total;
}

}  // namespace s80::plugin
