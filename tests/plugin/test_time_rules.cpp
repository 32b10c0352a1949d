// SPDX-License-Identifier: GPL-2.0-or-later
// The rules of time: what the recording side expects is what the timing merger finds, where the recording
// side knows all times and both have the same rules.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "fakes.h"
#include "memory/hierarchy.h"
#include "plugin/epochs.h"
#include "timing/merger.h"
#include "timing/rules.h"

namespace s80::plugin {

using model::Kind;
using model::TimeRules;
using model::Wait;

namespace {

constexpr unsigned kGuestProcessors = 4;
constexpr model::Line kAtOnce = 6;  ///< lines that the processors use in two epochs
constexpr std::size_t kLines = std::size_t{1} << 16;
constexpr std::size_t kEvents = 1'000;  ///< of a processor in an epoch

/// Only conflicts take time: misses that memory or the L2 services take none. A nanosecond is 1/256 cycle, so
/// that the guest's clock is exact.
model::Machine machine(unsigned epoch_cycles) {
    model::Machine m;
    m.name = "conflicts";
    m.processors = kGuestProcessors;
    m.clock_hz = 1'000'000'000 / model::kCycle;
    m.line_bytes = 128;
    m.l1i = m.l1d = {512, 2};
    m.l2 = {65'536, 4};
    m.latency = {0, 0, 120, 60};
    m.epoch_cycles = epoch_cycles;
    return m;
}

/// A guest whose times the recording side knows: all processors load a line before one of them stores to it,
/// and no line is used for more than two epochs. Accesses that the recording side has forgotten, and stores
/// of a processor that used a line alone, would have times that it does not know.
class KnownGuest {
public:
    explicit KnownGuest(unsigned epoch_cycles)
        : machine_(machine(epoch_cycles)),
          hierarchy_(machine_, model::Protocol::load(S80_CONFIGS "/protocols/mosi.toml"), kLines),
          merger_(hierarchy_) {
        // The CPI is known from the beginning.
        model::TimingMerger::Clock clock = merger_.clock();
        clock.paces.assign(kGuestProcessors, {model::TimingMerger::kUnit, model::TimingMerger::kUnit, 0});
        merger_.set_clock(clock);
        sink_.emplace(merger_, kGuestProcessors);
        for (unsigned p = 0; p < kGuestProcessors; ++p) {
            vcpus_.push_back(std::make_unique<Vcpu>());
            vcpus_.back()->processor = p;
            vcpus_.back()->attention = 0;
        }
        Epochs::State state;
        state.time.clock.runs = true;
        epochs_.emplace(machine_, TimeRules::of_merger(machine_), vcpus_, *sink_, page_, time_, round_,
                        kLines, 0, Schedule(0, 0, 1'000'000'000), state, kEvents);
    }

    bool block(unsigned processor, std::uint64_t instructions) {
        do {
            load_first();
            if (!begin(processor, instructions)) {
                return false;
            }
        } while (first_line() != loaded_);
        return true;
    }
    void access(model::Line line, Kind kind) {
        epochs_->access(*running_, first_line() + line % kAtOnce, kind);
    }
    void interrupt(unsigned target) { epochs_->interrupt(*running_, *vcpus_[target]); }
    void pause() {
        epochs_->pause(*running_);
        running_ = nullptr;
        compare();
    }
    /// Not if the processor is behind the beginning of the epoch: the time of a timer that wakes it would be
    /// known to one side only.
    void sleep() {
        if (running_->time() < 0) {
            return;
        }
        epochs_->sleep(*running_);
        slept_ = true;
        running_ = nullptr;
        compare();
    }

    unsigned epochs() const { return compared_; }
    std::uint64_t waits() {
        std::uint64_t all = 0;
        for (unsigned p = 0; p < kGuestProcessors; ++p) {
            all += hierarchy_.stats().core(model::Stat::order_waits, p);
        }
        return all;
    }

private:
    model::Line first_line() const {
        return static_cast<model::Line>(epochs_->number() / 2 * kAtOnce % (kLines - kAtOnce));
    }
    /// The lines are new in every other epoch.
    void load_first() {
        if (first_line() != loaded_) {
            loaded_ = first_line();
            to_load_ = model::CoreSet::below(kGuestProcessors);
        }
        while (!to_load_.empty()) {
            for (const unsigned p : to_load_) {
                if (!begin(p, 1)) {
                    compute(p);
                    continue;
                }
                if (first_line() != loaded_) {
                    return load_first();
                }
                for (model::Line line = 0; line < kAtOnce; ++line) {
                    access(line, Kind::load);
                }
                to_load_.remove(p);
            }
        }
    }
    /// The other processors execute, so that it is this one's turn again.
    void compute(unsigned processor) {
        for (unsigned p = 0; p < kGuestProcessors; ++p) {
            if (p != processor) {
                begin(p, 100);
            }
        }
    }
    bool begin(unsigned processor, std::uint64_t instructions) {
        Vcpu& vcpu = *vcpus_[processor];
        if (&vcpu != running_ || epochs_->slice_over(vcpu)) {
            if (&vcpu == running_) {
                epochs_->end_slice();
            }
            running_ = epochs_->begin_slice(vcpu) ? &vcpu : nullptr;
            compare();
            if (!slept_ && running_ != nullptr && !vcpu.share.ran(vcpu.instructions)) {
                compare_clock(vcpu);
            }
        }
        if (running_ != nullptr) {
            vcpu.instructions += instructions;
        }
        return running_ != nullptr;
    }
    /// An epoch has been played: the expected times at which it ended are the true ones.
    void compare() {
        if (sink_->played == compared_) {
            return;
        }
        compared_ = sink_->played;
        for (unsigned p = 0; p < kGuestProcessors; ++p) {
            RC_ASSERT(vcpus_[p]->share.begun() == merger_.paces()[p].lead);
        }
    }
    /// The guest's clock shows the true time of a processor that begins an epoch. (Where all slept, a gap may
    /// lie before the epoch, which is not played yet.)
    void compare_clock(const Vcpu& vcpu) const {
        const auto epoch = static_cast<std::int64_t>(merger_.clock_ns());
        RC_ASSERT(time_.now() == epoch + std::max<std::int64_t>(vcpu.share.begun(), 0));
    }

    const model::Machine machine_;
    model::Hierarchy hierarchy_;
    model::TimingMerger merger_;
    std::optional<PlayingSink> sink_;
    FakeTime time_;
    FakeRound round_;
    PhasePage page_;
    VcpuList vcpus_;
    std::optional<Epochs> epochs_;
    Vcpu* running_ = nullptr;
    model::Line loaded_ = model::kNoLine;
    model::CoreSet to_load_;
    unsigned compared_ = 0;
    bool slept_ = false;
};

}  // namespace

TEST(TimeRules, ExpectedTimesAreTheTrueOnesIfAllTimesAreKnown) {
    unsigned epochs = 0;
    std::uint64_t waits = 0;
    EXPECT_TRUE(rc::check([&epochs, &waits] {
        enum What : unsigned { load, store, both, pause, sleep, interrupt, kinds };
        KnownGuest guest(*rc::gen::element(1'000U, 5'000U));
        const auto steps =
            *rc::gen::container<std::vector<std::tuple<unsigned, unsigned, model::Line, unsigned>>>(
                100, rc::gen::tuple(
                         rc::gen::inRange(0U, kGuestProcessors), rc::gen::inRange(0U, unsigned{kinds}),
                         rc::gen::inRange<model::Line>(0, kAtOnce), rc::gen::element(1U, 3U, 40U, 700U)));
        for (const auto& [processor, what, line, instructions] : steps) {
            if (!guest.block(processor, instructions)) {
                continue;
            }
            switch (what) {
                case store: guest.access(line, Kind::store); break;
                case both:
                    guest.access(line, Kind::load);
                    guest.access(line, Kind::store);
                    break;
                case pause: guest.pause(); break;
                case sleep: guest.sleep(); break;
                case interrupt: guest.interrupt(line % kGuestProcessors); break;
                default: guest.access(line, Kind::load); break;
            }
        }
        epochs += guest.epochs();
        waits += guest.waits();
    }));
    EXPECT_GT(epochs, 100U);
    EXPECT_GT(waits, 50U);
}

TEST(TimeRules, AWaitForALineIsChargedUpToOneTransferFromEachProcessor) {
    const TimeRules rules = TimeRules::of_merger(machine(1'000));
    const std::int64_t longest = 4 * (120 + 60) * model::kCycle;
    EXPECT_EQ(rules.wait(Wait::transfer, longest).stall, longest);
    EXPECT_EQ(rules.wait(Wait::before, longest).stall, longest);
    EXPECT_FALSE(rules.wait(Wait::transfer, longest + 1).stalls);
    EXPECT_FALSE(rules.wait(Wait::before, longest + 1).stalls);
    EXPECT_EQ(rules.wait(Wait::transfer, longest + 1).behind, longest + 1);
    EXPECT_EQ(rules.wait(Wait::before, longest + 1).behind, 0);
    for (const Wait polled : {Wait::store, Wait::later}) {
        EXPECT_EQ(rules.wait(polled, 10 * longest).stall, 10 * longest);
    }
    for (const Wait ordered : {Wait::nothing, Wait::polls}) {
        EXPECT_FALSE(rules.wait(ordered, 10).stalls);
    }
}

TEST(TimeRules, OnlyTheMergerChargesWholeCyclesAndComparesAsIfItHadWaited) {
    const TimeRules merger = TimeRules::of_merger(machine(1'000));
    const TimeRules recorder = TimeRules::of_recorder(machine(1'000));
    EXPECT_EQ(merger.wait(Wait::transfer, 1'000).stall, 768);
    EXPECT_EQ(recorder.wait(Wait::transfer, 1'000).stall, 1'000);
    EXPECT_EQ(recorder.wait(Wait::transfer, recorder.longest_wait() + 1).behind, 0);
    EXPECT_NE(recorder.charges_without_edge, merger.charges_without_edge);
}

TEST(TimeRules, OnlyTheMergerBoundsTheLeadAndCountsSleepers) {
    const TimeRules merger = TimeRules::of_merger(machine(1'000));
    const TimeRules recorder = TimeRules::of_recorder(machine(1'000));
    const std::int64_t bound = merger.longest_lead;
    const auto length = [bound](const TimeRules& rules, bool awake) {
        model::EpochLength ended(rules);
        ended.add(0, awake, true);
        ended.add(10 * bound, false, false);
        return ended.value();
    };
    EXPECT_EQ(length(merger, false), 10 * bound);
    EXPECT_EQ(length(recorder, false), 0);
    EXPECT_EQ(length(merger, true), 9 * bound);
    EXPECT_EQ(length(recorder, true), 0);
    EXPECT_EQ(merger.lead(0, 10 * bound, true), -bound);
    EXPECT_EQ(recorder.lead(0, 10 * bound, true), -10 * bound);
    EXPECT_EQ(merger.lead(0, 10 * bound, false), 0) << "it cannot wake before";
}

}  // namespace s80::plugin
