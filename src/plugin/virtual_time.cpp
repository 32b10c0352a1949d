// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/virtual_time.h"

#include <cstddef>
#include <limits>

#include "plugin/qemu_symbols.h"

namespace s80::plugin {

namespace {

// Offsets of fields in QEMU's variable `timers_state`, QEMU 10.0.
constexpr std::size_t kShift = 0x1a;
constexpr std::size_t kBias = 0x28;
constexpr std::size_t kCount = 0x40;
constexpr int kLargestShift = 10;

constexpr int kVirtualClock = 1;
constexpr int kAllTimers = -1;

}  // namespace

QemuTime::QemuTime()
    : get_(find_symbol<std::int64_t (*)()>("icount_get")),
      deadline_(find_symbol<std::int64_t (*)(int, int)>("qemu_clock_deadline_ns_all")),
      current_(find_symbol<void**>("current_cpu")) {
    auto* const state = find_symbol<std::uint8_t*>("timers_state");
    shift_at_ = reinterpret_cast<const volatile std::int16_t*>(state + kShift);
    bias_ = reinterpret_cast<volatile std::int64_t*>(state + kBias);
    count_ = reinterpret_cast<volatile std::int64_t*>(state + kCount);
}

void QemuTime::verify() {
    constexpr std::int64_t kStep = 123'456'789;
    shift_ = *shift_at_;
    if (shift_ < 0 || shift_ > kLargestShift) {
        throw unknown_qemu();
    }
    const std::int64_t before = get_();
    const bool agrees = before == now();
    *bias_ = *bias_ + kStep;
    const bool moves = get_() == before + kStep;
    *bias_ = *bias_ - kStep;
    if (!agrees || !moves || get_() != before) {
        throw unknown_qemu();
    }
}

std::int64_t QemuTime::now() const {
    return (*count_ << shift_) + *bias_;
}

void QemuTime::begin_slice(std::int64_t ns) {
    begin_ = *count_;
    *bias_ = ns - (begin_ << shift_);
}

void QemuTime::advance(std::int64_t ns) {
    *bias_ = *bias_ + ns;
}

/// QEMU refuses to read its clock in the middle of a block if a processor is running. So during the call,
/// QEMU's pointer to the running processor is null.
std::int64_t QemuTime::next_timer() const {
    void* const running = *current_;
    *current_ = nullptr;
    const std::int64_t left = deadline_(kVirtualClock, kAllTimers);
    const std::int64_t when = left < 0 ? std::numeric_limits<std::int64_t>::max() : now() + left;
    *current_ = running;
    return when;
}

void QemuTime::end_slice(std::int64_t ns, std::uint64_t instructions) {
    *bias_ = ns - ((begin_ + static_cast<std::int64_t>(instructions)) << shift_);
}

}  // namespace s80::plugin
