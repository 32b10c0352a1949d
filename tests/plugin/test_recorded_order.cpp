// SPDX-License-Identifier: GPL-2.0-or-later
// From the guest's execution to the timing merger: what the recorder makes of a drawn guest is played by the
// real model, which keeps the order of conflicting accesses.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "fakes.h"
#include "memory/hierarchy.h"
#include "model/ordered_epoch.h"
#include "plugin/epochs.h"
#include "timing/merger.h"

namespace s80::plugin {

using model::Kind;
using model::Op;

namespace {

constexpr unsigned kGuestProcessors = 4;
constexpr std::size_t kLines = 1024;

model::Machine machine(unsigned epoch_cycles, unsigned quantum_cycles) {
    model::Machine m;
    m.name = "drawn";
    m.processors = kGuestProcessors;
    m.clock_hz = 1'000'000'000;
    m.line_bytes = 128;
    m.l1i = m.l1d = {512, 2};
    m.l2 = {2048, 2};
    m.latency = {8, 100, 120, 60};
    m.epoch_cycles = epoch_cycles;
    m.quantum_cycles = quantum_cycles;
    m.check("the test's machine");
    return m;
}

/// A guest that executes one block after the other.
class Guest {
public:
    Guest(unsigned epoch_cycles, unsigned quantum_cycles)
        : machine_(machine(epoch_cycles, quantum_cycles)),
          hierarchy_(machine_, model::Protocol::load(S80_CONFIGS "/protocols/moesi.toml"), 1024),
          merger_(hierarchy_),
          sink_(merger_, kGuestProcessors) {
        merger_.observe(order);
        for (unsigned p = 0; p < kGuestProcessors; ++p) {
            vcpus_.push_back(std::make_unique<Vcpu>());
            vcpus_.back()->processor = p;
            vcpus_.back()->attention = 0;
        }
        state_.time.clock.runs = true;
        epochs_.emplace(machine_, model::TimeRules::of_recorder(machine_), vcpus_, sink_, page_, time_,
                        round_, kLines, 0, Schedule(0, 0, 1'000'000), state_);
    }

    /// A block that begins with these instructions. Returns false if the processor is skipped. A processor
    /// that is left out of the round would be skipped.
    bool block(unsigned processor, std::uint64_t instructions) {
        Vcpu& vcpu = *vcpus_[processor];
        if (&vcpu != running_ || epochs_->slice_over(vcpu)) {
            // Where QEMU ends a time slice, the next one may take this processor in.
            const bool out = running_ == nullptr && round_.out.contains(processor);
            if (&vcpu == running_) {
                epochs_->end_slice();
            }
            running_ = nullptr;
            if (!epochs_->begin_slice(vcpu)) {
                ++skipped_;
                return false;
            }
            RC_ASSERT(!out || skipped_ >= 2 * kGuestProcessors);
            skipped_ = 0;
            RC_ASSERT(time_.now() >= latest_[processor]);
            latest_[processor] = time_.now();
            running_ = &vcpu;
        }
        vcpu.instructions += instructions;
        after_ = static_cast<std::uint16_t>(instructions);
        return true;
    }
    // In this block:
    void access(model::Line line, Kind kind) {
        executed.push_back({running_->processor, line, static_cast<Op>(kind), after_});
        after_ = 0;
        epochs_->access(*running_, line, kind);
    }
    void interrupt(unsigned target) {
        epochs_->interrupt(*running_, *vcpus_[target]);
        carry();
    }
    void sleep() {
        epochs_->sleep(*running_);
        time_.ns += 500;  // if all sleep
        carry();
        running_ = nullptr;
    }
    void pause() {
        epochs_->pause(*running_);
        carry();
        running_ = nullptr;
    }
    void finish() { epochs_->finish(); }
    unsigned epochs() const { return sink_.played; }

    model::test::PlayedOrder order;
    std::vector<model::test::Access> executed;

private:
    /// Instructions without an access: they are before the processor's next one.
    void carry() {
        executed.push_back({running_->processor, model::kNoLine, Op::pass, after_});
        after_ = 0;
    }

    const model::Machine machine_;
    model::Hierarchy hierarchy_;
    model::TimingMerger merger_;
    PlayingSink sink_;
    FakeTime time_;
    FakeRound round_;
    PhasePage page_;
    VcpuList vcpus_;
    Epochs::State state_;
    std::optional<Epochs> epochs_;
    Vcpu* running_ = nullptr;
    unsigned skipped_ = 0;  ///< processors since one ran
    std::uint16_t after_ = 0;
    std::vector<std::int64_t> latest_ = std::vector<std::int64_t>(kGuestProcessors, 0);
};

}  // namespace

TEST(RecordedOrder, ConflictingAccessesArePlayedAsTheyWereExecuted) {
    unsigned epochs = 0;
    EXPECT_TRUE(rc::check([&epochs] {
        enum What : unsigned { load, store, walk, both, pause, sleep, interrupt, kinds };
        Guest guest(*rc::gen::element(10U, 50U, 1'000U, 100'000U), *rc::gen::element(1U, 200U));
        const auto steps =
            *rc::gen::container<std::vector<std::tuple<unsigned, unsigned, model::Line, unsigned>>>(
                rc::gen::tuple(rc::gen::inRange(0U, kGuestProcessors), rc::gen::inRange(0U, unsigned{kinds}),
                               rc::gen::inRange<model::Line>(0, 6), rc::gen::element(1U, 3U, 40U, 700U)));
        std::size_t accesses = 0;
        for (const auto& [processor, what, line, instructions] : steps) {
            if (!guest.block(processor, instructions)) {
                continue;
            }
            switch (what) {
                case store: guest.access(line, Kind::store); break;
                case walk: guest.access(line, Kind::walk); break;
                case both:
                    guest.access(line, Kind::load);
                    guest.access(line, Kind::store);
                    ++accesses;
                    break;
                case pause: guest.pause(); break;
                case sleep: guest.sleep(); break;
                case interrupt: guest.interrupt(line % kGuestProcessors); break;
                default: guest.access(line, Kind::load); break;
            }
            accesses += what <= both ? 1 : 0;
        }
        guest.finish();
        epochs += guest.epochs();
        RC_ASSERT(guest.order.size() == accesses);
        const auto violation = guest.order.violation(guest.executed);
        RC_LOG() << violation.value_or("");
        RC_ASSERT(!violation.has_value());
    }));
    EXPECT_GT(epochs, 200U) << "most guests have one epoch only: nothing is tested across epochs";
}

/// Once an epoch has ended, a contender that is not the earliest one is skipped, each time that QEMU offers
/// it, until QEMU has offered it so often that it cannot run the earliest one. A skip that ended an epoch
/// counts once.
TEST(RecordedOrder, ASkipThatEndsAnEpochCountsOnce) {
    Guest guest(1'000, 200);
    const auto reads = [&guest](unsigned processor, std::uint64_t instructions) {
        const bool runs = guest.block(processor, instructions);
        if (runs) {
            guest.access(0, Kind::load);
        }
        return runs;
    };
    reads(0, 3);
    guest.block(3, 700);
    guest.access(0, Kind::store);
    for (const unsigned processor : {2U, 1U, 0U}) {
        reads(processor, 700);
    }
    unsigned skipped = 0;
    EXPECT_FALSE(reads(1, 700)) << "it does not end the epoch";
    for (++skipped; !reads(0, 1); ++skipped) {
    }
    EXPECT_EQ(skipped, 2 * kGuestProcessors);
}

/// Two processors store to one line in turn, beside two others that only compute: the line changes hands as
/// often as they store.
TEST(RecordedOrder, AnAlternatingLineChangesHandsWithEachStore) {
    Guest guest(1'000, 200);
    unsigned stores = 0;
    for (unsigned round = 0; round < 500; ++round) {
        for (const unsigned p : {0U, 1U}) {
            if (guest.block(p, 10)) {
                guest.access(5, Kind::store);
                ++stores;
            }
        }
        guest.block(2, 100);
        guest.block(3, 100);
    }
    guest.finish();
    EXPECT_GT(stores, 100U);
    EXPECT_EQ(guest.order.size(), stores);
    EXPECT_EQ(guest.order.violation(guest.executed), std::nullopt);
}

}  // namespace s80::plugin
