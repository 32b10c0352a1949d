// SPDX-License-Identifier: GPL-2.0-or-later
// The order in which epochs are played and everything that is counted, pinned as sums: whoever makes the
// model faster changes neither.
#include <gtest/gtest.h>

#include "random_epochs.h"
#include "small_machine.h"
#include "timing/merger.h"

namespace s80::model {

namespace {

class Sum : public Observer {
public:
    void add(std::uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3U; }
    void event(unsigned processor, const Event& event, std::int64_t clock) override {
        add(processor << 4 | static_cast<unsigned>(event.op));
        add(event.line);
        add(static_cast<std::uint64_t>(clock));
    }
    void end(const Epoch& epoch) override { add(epoch.signals); }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0xcbf29ce484222325U;
};

Machine middling(Policy policy, unsigned threads, unsigned l1_ways, unsigned l2_ways) {
    Machine m = small_machine();
    m.processors = 18;
    m.threads_per_core = threads;
    m.l1i = {std::uint64_t{128} * 64 * l1_ways, l1_ways};
    m.l1d = m.l1i;
    m.l2 = {std::uint64_t{128} * 128 * l2_ways, l2_ways};
    m.policy = policy;
    m.base_cpi = 1.3;
    m.check("the test's machine");
    return m;
}

struct Played {
    std::uint64_t order;   ///< of the events
    std::uint64_t counts;  ///< statistics, clock and states at the end
    bool operator==(const Played&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Played& p) {
    return out << std::hex << "0x" << p.order << ", 0x" << p.counts << std::dec;
}

Played play(const Machine& machine) {
    Hierarchy h(machine, moesi(), test::kRandomLines);
    TimingMerger merger(h);
    Sum order;
    merger.observe(order);
    test::RandomEpochs epochs(machine.processors, 80);
    for (unsigned i = 0; i < 40; ++i) {
        merger.play(epochs.next(i % 4 == 0 ? 2000 : 20));
    }
    Sum counts;
    for (const std::uint64_t value : h.stats().all()) {
        counts.add(value);
    }
    counts.add(merger.clock().cycles);
    for (unsigned core = 0; core < machine.cores(); ++core) {
        for (Line line = 0; line < test::kRandomLines; ++line) {
            counts.add(h.caches().state(core, line) << 2 | (h.caches().in_l1(core, line, true) ? 2U : 0U) |
                       (h.caches().l1_writable(core, line) ? 1U : 0U));
        }
    }
    return {order.value(), counts.value()};
}

}  // namespace

TEST(Pinned, Lru) {
    EXPECT_EQ(play(middling(Policy::lru, 1, 2, 4)), (Played{0x20d2173ab22a8f86, 0xe2478e82bb0bef25}));
}
TEST(Pinned, LruOfSixteenWays) {
    EXPECT_EQ(play(middling(Policy::lru, 1, 4, 16)), (Played{0xaeb46b0b59983bcb, 0xce621e64c0af3a74}));
}
TEST(Pinned, LruOfThreeWays) {
    EXPECT_EQ(play(middling(Policy::lru, 1, 1, 3)), (Played{0x2cf58bfc5375808d, 0x5db4c4dd64386add}));
}
TEST(Pinned, Plru) {
    EXPECT_EQ(play(middling(Policy::plru, 1, 2, 8)), (Played{0xd2324b30e0b5a7d1, 0x1b85a6018eca3f32}));
}
TEST(Pinned, Random) {
    EXPECT_EQ(play(middling(Policy::random, 1, 2, 4)), (Played{0x434d73655758df8b, 0xefbec04a32f4cd10}));
}
TEST(Pinned, TwoThreadsACore) {
    EXPECT_EQ(play(middling(Policy::lru, 2, 2, 4)), (Played{0xe24dad22a56350d1, 0x295ea3402a83b74d}));
}

}  // namespace s80::model
