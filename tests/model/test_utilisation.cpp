// SPDX-License-Identifier: GPL-2.0-or-later
// The law of utilisation, from light load to overload: eight processors that miss now and then, in epochs of
// equal turns as the plugin records them, beside the same load on one queue that serves by moments (1 GHz, so
// one cycle is one nanosecond).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "random_epochs.h"
#include "small_machine.h"
#include "timing/merger.h"

namespace s80::model {

namespace {

constexpr unsigned kProcessors = 8;
constexpr unsigned kRequests = 60'000;
constexpr unsigned kService = 60;

/// Instructions between two misses of a processor, 1 to twice the mean.
std::uint32_t between(test::Draw& draw, unsigned mean) {
    return 1 + draw.below(2 * mean - 1);
}

struct Measured {
    double throughput = 0;  ///< requests a cycle
    double wait = 0;        ///< cycles a request
};

/// What the model should give: the processors one event after the other, in the order of time.
Measured in_order(unsigned mean) {
    test::Draw draw(1);
    std::array<std::int64_t, kProcessors> next{};
    for (std::int64_t& when : next) {
        when = between(draw, mean);
    }
    std::int64_t free = 0;
    std::int64_t waits = 0;
    for (unsigned i = 0; i < kRequests; ++i) {
        std::int64_t& when = *std::ranges::min_element(next);
        const std::int64_t begin = std::max(free, when);
        waits += begin - when;
        free = begin + kService;
        when = begin + kMemory + between(draw, mean);
    }
    return {kRequests / static_cast<double>(free), static_cast<double>(waits) / kRequests};
}

/// A turn of `instructions` for each processor, which goes on where the last one ended.
class Load {
public:
    explicit Load(unsigned mean) : mean_(mean) {
        for (std::uint32_t& left : left_) {
            left = between(draw_, mean);
        }
    }
    Epoch next(std::uint32_t instructions) {
        Epoch epoch{kProcessors};
        for (unsigned p = 0; p < kProcessors; ++p) {
            Stream& s = epoch.streams[p];
            std::uint32_t rest = instructions;
            for (; left_[p] <= rest; left_[p] = between(draw_, mean_)) {
                const Line line = p * kLines + line_[p]++ % kLines;
                s.events.push_back(Event{line, static_cast<std::uint16_t>(left_[p]), 0, Op::load, 0, {}});
                rest -= left_[p];
            }
            left_[p] -= rest;
            s.tail = rest;
            s.size = s.events.size();
            s.ran = s.runs_on = true;
        }
        return epoch;
    }
    static constexpr Line kLines = 64;  ///< of a processor: more than its caches hold

private:
    unsigned mean_;
    test::Draw draw_{2};
    std::array<std::uint32_t, kProcessors> left_{};
    std::array<Line, kProcessors> line_{};
};

struct Played {
    Played(Resource resource, unsigned quantum, unsigned mean)
        : resource_(resource), h_(machine(quantum), moesi(), 1024) {
        TimingMerger merger(h_);
        Load load(mean);
        while (h_.stats().sum(Stat::l2_misses) < kRequests) {
            merger.play(load.next(4000));
        }
        cycles_ = static_cast<double>(merger.clock_ns());
    }
    Measured measured() const {
        const auto misses = static_cast<double>(h_.stats().sum(Stat::l2_misses));
        return {misses / cycles_, of(Stat::queue_wait_cycles) / misses};
    }
    double utilisation() const { return of(Stat::queue_busy_cycles) / cycles_; }

private:
    Machine machine(unsigned quantum) const {
        Machine m = small_machine();
        m.processors = kProcessors;
        m.quantum_cycles = quantum;
        (resource_ == Resource::bus ? m.bandwidth.bus : m.bandwidth.memory) = kService;
        m.check("the test's machine");
        return m;
    }
    double of(Stat s) const {
        return static_cast<double>(h_.stats().values(s)[static_cast<unsigned>(resource_)]);
    }

    Resource resource_;
    Hierarchy h_;
    double cycles_ = 0;
};

/// What processors that never waited would ask for, as a share of what can be served: instructions between
/// misses.
unsigned offered(double share) {
    return static_cast<unsigned>(kProcessors * kService / share) - kMemory;
}

constexpr std::array<unsigned, 4> kQuanta{20, 200, 1000, 4000};

}  // namespace

class Utilisation : public ::testing::TestWithParam<Resource> {};

TEST_P(Utilisation, IsThroughputTimesServiceAtAnyLoadAndQuantum) {
    for (const double share : {0.2, 0.5, 0.8, 1.0, 1.5, 3.0}) {
        const Measured expected = in_order(offered(share));
        for (const unsigned quantum : kQuanta) {
            SCOPED_TRACE("offered " + std::to_string(share) + ", quantum " + std::to_string(quantum));
            const Played run(GetParam(), quantum, offered(share));
            const Measured found = run.measured();
            EXPECT_NEAR(run.utilisation(), found.throughput * kService, 0.05 * run.utilisation());
            EXPECT_NEAR(found.throughput, expected.throughput, 0.05 * expected.throughput);
            EXPECT_NEAR(found.wait, expected.wait, 0.2 * expected.wait);
        }
    }
}

TEST_P(Utilisation, ThroughputEndsAtTheStatedBandwidth) {
    for (const double share : {2.0, 3.0, 4.0}) {
        for (const unsigned quantum : kQuanta) {
            const Played run(GetParam(), quantum, offered(share));
            EXPECT_NEAR(run.measured().throughput * kService, 1, 0.05) << share << ", quantum " << quantum;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Of, Utilisation, ::testing::Values(Resource::bus, Resource::memory),
                         [](const auto& info) { return info.param == Resource::bus ? "Bus" : "Memory"; });

}  // namespace s80::model
