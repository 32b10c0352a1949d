// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/round.h"

#include <cstddef>

#include "plugin/qemu_symbols.h"

namespace s80::plugin {

namespace {

// Offset of the field `stopped` in QEMU's structure CPUState, QEMU 10.0.
constexpr std::size_t kStopped = 0xc3;

}  // namespace

QemuRound::QemuRound()
    : is_stopped_(find_symbol<bool (*)(void*)>("cpu_is_stopped")),
      current_(find_symbol<std::uint8_t* const*>("current_cpu")) {}

volatile std::uint8_t* QemuRound::stopped() const {
    return *current_ + kStopped;
}

void QemuRound::verify() const {
    volatile std::uint8_t* const field = stopped();
    const bool runs = *field == 0 && !is_stopped_(*current_);
    *field = 1;
    const bool stops = is_stopped_(*current_);
    *field = 0;
    if (!runs || !stops) {
        throw unknown_qemu();
    }
}

void QemuRound::leave_out(unsigned processor) {
    left_out_[processor] = stopped();
    *left_out_[processor] = 1;
}

void QemuRound::take_in(unsigned processor) {
    *left_out_[processor] = 0;
}

}  // namespace s80::plugin
