// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/expected_time.h"

#include <algorithm>

namespace s80::plugin {

using model::TimingMerger;

ExpectedTime::ExpectedTime(const model::Machine& machine, const model::TimeRules& rules,
                           const VcpuList& vcpus, VirtualTime& time, unsigned clock_shift, const State& state)
    : machine_(machine),
      rules_(rules),
      vcpus_(vcpus),
      clock_(time, clock_shift, state.clock),
      gap_pending_(state.gap_pending),
      latest_ns_(vcpus.size(), 0) {}

std::int64_t ExpectedTime::length() const {
    model::EpochLength ended(rules_);
    for (const auto& vcpu : vcpus_) {
        if (vcpu->bound()) {
            ended.add(vcpu->time(), vcpu->awake(), vcpu->share.ran(vcpu->instructions));
        }
    }
    return ended.value();
}

std::int64_t ExpectedTime::end_epoch() {
    const std::int64_t ended = length();
    lengths_in_flight_ = {lengths_in_flight_[1], ns(ended)};
    idle_in_flight_ = {idle_in_flight_[1], idle_};
    idle_ = 0;
    return ended;
}

void ExpectedTime::begin_epoch(const EpochSink::Known& known, std::int64_t last_length) {
    for (const auto& vcpu : vcpus_) {
        begin_share(*vcpu, known.paces[vcpu->processor], last_length);
    }
    clock_.begin_epoch(known.clock_ns, static_cast<std::int64_t>(idle_in_flight_[0] + idle_in_flight_[1]) +
                                           lengths_in_flight_[0] + lengths_in_flight_[1]);
}

void ExpectedTime::begin_share(Vcpu& vcpu, const TimingMerger::Pace& pace, std::int64_t last_length) const {
    const auto base =
        static_cast<std::uint64_t>(machine_.base_cpi * static_cast<double>(TimingMerger::kUnit));
    const std::uint64_t cpi = pace.instructions != 0 ? std::max(pace.cpi(), base) : 2 * base;
    const std::int64_t epoch = clock_.runs() ? std::int64_t{machine_.epoch_cycles} * TimingMerger::kUnit : 0;
    vcpu.share.begin_epoch(vcpu.instructions, rules_.lead(vcpu.time(), last_length, vcpu.awake()), pace.lead,
                           cpi, epoch);
}

bool ExpectedTime::starts(EpochSink& sink) {
    if (!starts_) {
        return false;
    }
    starts_ = false;
    clock_.start(sink.known().clock_ns);
    return true;
}

std::uint64_t ExpectedTime::end_gap() {
    if (!gap_pending_) {
        return 0;
    }
    gap_pending_ = false;
    const auto gap = static_cast<std::uint64_t>(clock_.end_gap());
    idle_ += gap;
    return gap;
}

/// The processor may begin the epoch before the epoch begins. Its clock does not: it shows at least the
/// epoch's beginning.
void ExpectedTime::begin_slice(const Vcpu& vcpu) {
    clock_.begin_slice(ns(std::max<std::int64_t>(vcpu.time(), 0)), latest_ns_[vcpu.processor]);
}

void ExpectedTime::read(const Vcpu& vcpu, std::uint64_t instructions) {
    clock_.read(ns(vcpu.time()), instructions, latest_ns_[vcpu.processor]);
}

std::int64_t ExpectedTime::ns(std::int64_t time) const {
    constexpr std::int64_t kNsPerSecond = 1'000'000'000;
    __extension__ typedef __int128 Wide;
    return static_cast<std::int64_t>(static_cast<Wide>(time) * kNsPerSecond /
                                     (static_cast<Wide>(machine_.clock_hz) * TimingMerger::kUnit));
}

}  // namespace s80::plugin
