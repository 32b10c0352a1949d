// SPDX-License-Identifier: GPL-2.0-or-later
#include "ticks.hpp"

#include <cmath>

#include "cpus.hpp"

namespace s80::loadgen {

namespace {

constexpr std::uint64_t local_apic = 0xfee00000;
constexpr unsigned initial_count = 0x380;

/// CONFIG_HZ of Debian's kernels.
constexpr double kernel_hz = 250;

}  // namespace

std::optional<std::uint32_t> TickRate::change(double tick_hz, double guest_per_modelled) {
    const double wanted =
        tick_hz > 0 ? std::round(kernel_count_ * (kernel_hz / tick_hz) * guest_per_modelled) : kernel_count_;
    if (!(wanted >= 1 && wanted <= UINT32_MAX)) return std::nullopt;
    if (std::abs(count_ / wanted - 1) <= (tick_hz > 0 ? tolerance_ : 0)) return std::nullopt;
    return count_ = static_cast<std::uint32_t>(wanted);
}

double TickRate::exact_at(double tick_hz) const {
    return count_ * tick_hz / (kernel_count_ * kernel_hz);
}

Ticks::Ticks(double tolerance) : apic_(local_apic), rate_(apic_.read(initial_count), tolerance) {}

void Ticks::regulate(double tick_hz, double guest_per_modelled) {
    const auto count = rate_.change(tick_hz, guest_per_modelled);
    if (!count) return;
    ++changes_;
    on_each_cpu([&](unsigned) { apic_.write(initial_count, *count); });
}

}  // namespace s80::loadgen
