// SPDX-License-Identifier: GPL-2.0-or-later
// The surroundings of the recorder, as tests see them.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "plugin/epoch_sink.h"
#include "plugin/round.h"
#include "plugin/virtual_time.h"
#include "timing/merger.h"

namespace s80::plugin {

/// Virtual time that a test moves. It records what the plugin sets.
class FakeTime final : public VirtualTime {
public:
    struct End {
        std::int64_t ns = 0;
        std::uint64_t instructions = 0;
        bool operator==(const End&) const = default;
    };

    std::int64_t now() const override { return ns; }
    void begin_slice(std::int64_t begin) override {
        ns = begin;
        begins.push_back(begin);
    }
    void advance(std::int64_t by) override { ns += by; }
    std::int64_t next_timer() const override { return timer; }
    void end_slice(std::int64_t end, std::uint64_t instructions) override {
        ns = end;
        ends.push_back({end, instructions});
    }

    std::int64_t ns = 0;
    std::int64_t timer = std::numeric_limits<std::int64_t>::max();  ///< when the guest's next timer is due
    std::vector<std::int64_t> begins;
    std::vector<End> ends;
};

/// QEMU's round, as far as a test looks at it: which processors are left out.
class FakeRound final : public Round {
public:
    void leave_out(unsigned processor) override { out.insert(processor); }
    void take_in(unsigned processor) override { out.erase(processor); }

    std::set<unsigned> out;
};

/// A destination of epochs that plays them at once. What it makes known is as late as that of the plugin.
class PlayingSink final : public EpochSink {
public:
    PlayingSink(model::TimingMerger& merger, unsigned processors)
        : merger_(merger), processors_(processors), known_(3, {merger.clock_ns(), merger.paces()}) {}
    std::unique_ptr<model::Epoch> take() override { return std::make_unique<model::Epoch>(processors_); }
    void submit(std::unique_ptr<model::Epoch> epoch) override {
        merger_.play(*epoch);
        ++played;
        known_.push_back({merger_.clock_ns(), merger_.paces()});
        known_.pop_front();
    }
    const Known& known() override { return known_.front(); }

    unsigned played = 0;

private:
    model::TimingMerger& merger_;
    const unsigned processors_;
    std::deque<Known> known_;
};

}  // namespace s80::plugin
