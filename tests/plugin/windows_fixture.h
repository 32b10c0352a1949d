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
#include "plugin/windows.h"

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

inline Lanes bound_lanes() {
    Lanes lanes;
    for (unsigned p = 0; p < kProcessors; ++p) {
        lanes.push_back(std::make_unique<Lane>());
        lanes.back()->processor = p;
        lanes.back()->attention = 0;
    }
    return lanes;
}

/// Keeps what is handed over. At first no simulated time has passed, and all processors execute one
/// instruction per cycle.
class FakeSink final : public WindowSink {
public:
    std::unique_ptr<model::Window> take() override { return std::make_unique<model::Window>(kProcessors); }
    void submit(std::unique_ptr<model::Window> window) override { closed.push_back(std::move(window)); }
    const Known& known() override { return known_; }

    Known known_{
        0, std::vector<model::Player::Pace>(kProcessors, {model::Player::kUnit, model::Player::kUnit, 0})};
    std::vector<std::unique_ptr<model::Window>> closed;
};

inline constexpr std::size_t kFits = 5;  ///< events of a processor in an epoch
inline constexpr std::int64_t kLongAgo = 1'000'000'000;

inline std::uint64_t instructions(const model::Stream& s) {
    return std::accumulate(s.events.begin(), s.events.begin() + static_cast<std::ptrdiff_t>(s.size), s.tail,
                           [](std::uint64_t n, const model::Event& e) { return n + e.delta; });
}

inline Windows::State running_clock() {
    Windows::State state;
    state.time.clock.runs = true;
    return state;
}

/// Runs processors as QEMU does: one time slice after the other. An epoch has 1,000 cycles.
class WindowsTest : public testing::Test {
protected:
    explicit WindowsTest(const Windows::State& state = running_clock()) : state_(state) {}

    Lane& lane(unsigned processor) { return *lanes_[processor]; }
    /// A time slice begins. False: it is skipped.
    bool begin(unsigned processor) { return windows_.begin_slice(lane(processor)); }
    void execute(unsigned processor, std::uint64_t instructions) {
        lane(processor).instructions += instructions;
    }
    /// A time slice that the recorder ends.
    void slice(unsigned processor, std::uint64_t instructions) {
        ASSERT_TRUE(begin(processor)) << processor;
        execute(processor, instructions);
        windows_.end_slice();
    }
    /// A time slice of a contender, up to its last instruction.
    void turn(unsigned processor) {
        ASSERT_TRUE(begin(processor)) << processor;
        execute(processor, lane(processor).slice.end - lane(processor).instructions);
    }
    /// The processor executes what it has left in this epoch: 1,000 instructions if it has used up the last
    /// one.
    void all_of(unsigned processor) {
        slice(processor, lane(processor).share.end() - lane(processor).instructions);
    }
    void epoch() {
        for (unsigned p = 0; p < kProcessors; ++p) {
            all_of(p);
        }
    }
    void sleep(unsigned processor, std::uint64_t instructions) {
        ASSERT_TRUE(begin(processor)) << processor;
        execute(processor, instructions);
        windows_.sleep(lane(processor));
    }
    std::size_t closed() const { return sink_.closed.size(); }
    const model::Window& closed(std::size_t i) const { return *sink_.closed.at(i); }
    std::vector<model::Event> events(std::size_t epoch, unsigned processor) const {
        const model::Stream& s = closed(epoch).streams[processor];
        return {s.events.begin(), s.events.begin() + static_cast<std::ptrdiff_t>(s.size)};
    }
    model::Event event(std::size_t epoch, unsigned processor, std::size_t i) const {
        return events(epoch, processor).at(i);
    }

    const Windows::State state_;
    const model::Machine machine_ = fake_machine();
    Lanes lanes_ = bound_lanes();
    FakeSink sink_;
    FakeTime time_;
    FakeRound round_;
    PhasePage page_;
    Windows windows_{machine_, model::TimeRules::of_recorder(machine_),
                     lanes_,   sink_,
                     page_,    time_,
                     round_,   kLines,
                     0,        Schedule(0, 12'000, 6'000),
                     state_,   kFits};
};

}  // namespace s80::plugin
