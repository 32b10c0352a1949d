// SPDX-License-Identifier: GPL-2.0-or-later
// Two threads of one core that share its issue slots (1 GHz, so one cycle is one nanosecond).
#include "small_machine.h"
#include "timing/merger.h"

namespace s80::model {

namespace {

Machine two_threads(double issue_share) {
    Machine m = small_machine();
    m.processors = 4;
    m.threads_per_core = 2;
    m.quantum_cycles = 20;
    m.issue_share = issue_share;
    m.check("the test's machine");
    return m;
}

struct Smt {
    explicit Smt(double issue_share) : h(two_threads(issue_share), moesi(), 1024), merger(h) {}

    void event(unsigned p, Op op, std::uint32_t line, std::uint16_t delta) {
        Stream& s = epoch.streams[p];
        s.events.push_back(Event{line, delta, 0, op, 0, user});
        s.size = s.events.size();
        s.ran = true;
        s.instructions[user.value] += delta;
        s.use(user);
    }
    /// Computes without any access that leaves its line.
    void compute(unsigned p, unsigned instructions, bool runs_on = false) {
        for (unsigned i = 0; i < instructions / 10; ++i) {
            event(p, Op::pass, 0, 10);
        }
        epoch.streams[p].runs_on = runs_on;
    }
    std::uint64_t play() {
        epoch.mark = Mark::interval;
        merger.play(epoch);
        epoch = Epoch{4};
        return merger.clock_ns();
    }
    std::uint64_t waited(unsigned core) {
        std::uint64_t cycles = 0;
        for (unsigned k = 0; k < kKinds; ++k) {
            cycles += h.stats().stall(core, user, static_cast<Kind>(k), Service::issue);
        }
        return cycles;
    }

    Hierarchy h;
    TimingMerger merger;
    Epoch epoch{4};
    Context user{Privilege::user, ProcessClass::session};
};

}  // namespace

TEST(Smt, TwoThatComputeShareTheSlots) {
    for (const double share : {0.5, 0.625, 1.0}) {
        Smt smt(share);
        smt.compute(0, 10'000);
        smt.compute(1, 10'000);
        EXPECT_NEAR(static_cast<double>(smt.play()), 10'000 / share, 20);
        EXPECT_NEAR(static_cast<double>(smt.waited(0)), 2 * (10'000 / share - 10'000), 40);
        EXPECT_EQ(smt.h.stats().core(Stat::busy_cycles, 0), 20'000 + smt.waited(0));
    }
}

TEST(Smt, ThreadsOfOtherCoresShareNothing) {
    Smt smt(0.5);
    smt.compute(0, 10'000);
    smt.compute(2, 10'000);
    EXPECT_EQ(smt.play(), 10'000U);
    EXPECT_EQ(smt.waited(0) + smt.waited(1), 0U);
}

TEST(Smt, AThreadAloneIsAsFastAsWithoutSharing) {
    std::uint64_t clocks[2] = {};
    std::vector<std::uint64_t> counts[2];
    for (const unsigned shared : {0U, 1U}) {
        Smt smt(shared != 0 ? 0.5 : 1.0);
        for (unsigned i = 0; i < 500; ++i) {
            smt.event(0, i % 3 == 0 ? Op::store : Op::load, i * 7 % 200, 13);
        }
        clocks[shared] = smt.play();
        counts[shared] = smt.h.stats().all();
    }
    EXPECT_EQ(clocks[0], clocks[1]);
    EXPECT_EQ(counts[0], counts[1]);
}

TEST(Smt, WhoStallsLeavesTheSlotsToTheOther) {
    Smt smt(0.5);
    for (Line line = 0; line < 50; ++line) {
        smt.event(0, Op::load, line, 1);  // waits for memory nearly all the time
    }
    smt.compute(1, 50 * kMemory, true);
    smt.play();
    EXPECT_LT(smt.waited(0), 50U * kMemory / 10);
}

TEST(Smt, WhoSleepsLeavesThemToo) {
    Smt smt(0.5);
    smt.compute(0, 1'000);
    smt.compute(1, 10'000);
    EXPECT_NEAR(static_cast<double>(smt.play()), 2'000 + 9'000, 40);
}

TEST(Smt, AnInterruptEndsTheQuiet) {
    Smt smt(0.5);
    smt.epoch.signals = 1;
    smt.event(1, Op::wait, 0, 0);
    smt.compute(1, 5'000);
    smt.compute(0, 5'000);
    smt.event(0, Op::signal, 0, 0);
    smt.compute(0, 5'000);
    EXPECT_NEAR(static_cast<double>(smt.play()), 5'000 + 10'000, 60);
}

}  // namespace s80::model
