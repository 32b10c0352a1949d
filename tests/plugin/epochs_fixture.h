// SPDX-License-Identifier: GPL-2.0-or-later
// A guest of three processors that a test executes by hand, and what surrounds the recording side: virtual
// time and a destination that keeps the epochs. The machine executes one instruction per cycle, and a cycle
// is a nanosecond.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "fakes.h"
#include "machine/machine.h"
#include "plugin/epochs.h"

namespace s80::plugin {

inline constexpr unsigned kProcessors = 3;
inline constexpr std::size_t kLines = 1'024;  ///< of the guest's memory
inline constexpr unsigned kEpoch = 1'000;     ///< cycles, nanoseconds and instructions

inline model::Machine fake_machine() {
    model::Machine machine;
    machine.name = "fake";
    machine.processors = kProcessors;
    machine.clock_hz = 1'000'000'000;
    machine.epoch_cycles = kEpoch;
    machine.latency = {8, 100, 120, 60};
    return machine;
}

inline VcpuList bound_lanes() {
    VcpuList vcpus;
    for (unsigned p = 0; p < kProcessors; ++p) {
        vcpus.push_back(std::make_unique<Vcpu>());
        vcpus.back()->processor = p;
        vcpus.back()->attention = 0;
    }
    return vcpus;
}

/// Keeps what is handed over. At first no simulated time has passed, and all processors execute one
/// instruction per cycle.
class FakeSink final : public EpochSink {
public:
    std::unique_ptr<model::Epoch> take() override { return std::make_unique<model::Epoch>(kProcessors); }
    void submit(std::unique_ptr<model::Epoch> epoch) override { closed.push_back(std::move(epoch)); }
    const Known& known() override { return known_; }

    Known known_{0, std::vector<model::TimingMerger::Pace>(
                        kProcessors, {model::TimingMerger::kUnit, model::TimingMerger::kUnit, 0})};
    std::vector<std::unique_ptr<model::Epoch>> closed;
};

inline constexpr std::size_t kFits = 5;  ///< events of a processor in an epoch
inline constexpr std::int64_t kLongAgo = 1'000'000'000;

inline std::uint64_t instructions(const model::Stream& s) {
    return std::accumulate(s.events.begin(), s.events.begin() + static_cast<std::ptrdiff_t>(s.size), s.tail,
                           [](std::uint64_t n, const model::Event& e) { return n + e.delta; });
}

inline Epochs::State running_clock() {
    Epochs::State state;
    state.time.clock.runs = true;
    return state;
}

/// Runs processors as QEMU does: one time slice after the other. An epoch has 1,000 cycles.
class EpochsTest : public testing::Test {
protected:
    explicit EpochsTest(const Epochs::State& state = running_clock()) : state_(state) {}

    Vcpu& vcpu(unsigned processor) { return *vcpus_[processor]; }
    /// A time slice begins. False: it is skipped.
    bool begin(unsigned processor) { return epochs_.begin_slice(vcpu(processor)); }
    void execute(unsigned processor, std::uint64_t instructions) {
        vcpu(processor).instructions += instructions;
    }
    /// A time slice that the recorder ends.
    void slice(unsigned processor, std::uint64_t instructions) {
        ASSERT_TRUE(begin(processor)) << processor;
        execute(processor, instructions);
        epochs_.end_slice();
    }
    /// A time slice of a contender, up to its last instruction.
    void turn(unsigned processor) {
        ASSERT_TRUE(begin(processor)) << processor;
        execute(processor, vcpu(processor).slice.end - vcpu(processor).instructions);
    }
    /// The processor executes what it has left in this epoch: 1,000 instructions if it has used up the last
    /// one.
    void all_of(unsigned processor) {
        slice(processor, vcpu(processor).share.end() - vcpu(processor).instructions);
    }
    void epoch() {
        for (unsigned p = 0; p < kProcessors; ++p) {
            all_of(p);
        }
    }
    void sleep(unsigned processor, std::uint64_t instructions) {
        ASSERT_TRUE(begin(processor)) << processor;
        execute(processor, instructions);
        epochs_.sleep(vcpu(processor));
    }
    std::size_t closed() const { return sink_.closed.size(); }
    const model::Epoch& closed(std::size_t i) const { return *sink_.closed.at(i); }
    std::vector<model::Event> events(std::size_t epoch, unsigned processor) const {
        const model::Stream& s = closed(epoch).streams[processor];
        return {s.events.begin(), s.events.begin() + static_cast<std::ptrdiff_t>(s.size)};
    }
    model::Event event(std::size_t epoch, unsigned processor, std::size_t i) const {
        return events(epoch, processor).at(i);
    }

    const Epochs::State state_;
    const model::Machine machine_ = fake_machine();
    VcpuList vcpus_ = bound_lanes();
    FakeSink sink_;
    FakeTime time_;
    FakeRound round_;
    PhasePage page_;
    Epochs epochs_{machine_, model::TimeRules::of_recorder(machine_),
                   vcpus_,   sink_,
                   page_,    time_,
                   round_,   kLines,
                   0,        Schedule(0, 12'000, 6'000),
                   state_,   kFits};
};

}  // namespace s80::plugin
