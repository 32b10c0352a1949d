// SPDX-License-Identifier: GPL-2.0-or-later
// A pointer chase on one core, as tools do that measure latencies: the mean stall of an access, by the size
// of the array.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "memory/hierarchy.h"
#include "small_machine.h"

namespace s80::model {

namespace {

constexpr unsigned kL2 = 4;
constexpr unsigned kLlc = 22;
constexpr unsigned kGroup = 11;
constexpr unsigned kMem = 90;
constexpr std::uint64_t kKiB = 1024;

/// The sizes and latencies of configs/machines/server-16.toml.
Machine server() {
    Machine m;
    m.name = "server";
    m.processors = 16;
    m.clock_hz = 1'000'000'000;
    m.line_bytes = 64;
    m.l1i = {32 * kKiB, 8};
    m.l1d = {48 * kKiB, 12};
    m.l2 = {1280 * kKiB, 20};
    m.llc = {{24576 * kKiB, 12}, 16};
    m.latency = {kL2, kMem, 51, 34, kLlc};
    m.check("the test's machine");
    return m;
}

/// Each access is to a line in a random order of the whole array; the second pass is measured.
double mean_stall(const Machine& machine, const Protocol& protocol, std::uint64_t bytes) {
    const auto lines = static_cast<Line>(bytes / machine.line_bytes);
    std::vector<Line> order(lines);
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), std::mt19937(lines));
    Hierarchy h(machine, protocol, lines);
    const Context who(Privilege::user, ProcessClass::other);
    std::uint64_t stalls = 0;
    for (unsigned pass = 0; pass < 2; ++pass) {
        stalls = 0;
        for (const Line line : order) {
            stalls += h.access(3, line, Kind::load, who).stall;
        }
    }
    return static_cast<double>(stalls) / lines;
}

}  // namespace

TEST(PointerChase, HasItsPlateausAtTheSizesOfTheCaches) {
    const Protocol table = shipped("mesi-llc");
    for (std::uint64_t kib = 8; kib <= 65536; kib *= 2) {
        const unsigned expected = kib <= 32 ? 0 : kib <= 1024 ? kL2 : kib <= 16384 ? kLlc : kMem;
        EXPECT_EQ(mean_stall(server(), table, kib * kKiB), expected) << kib << " KiB";
    }
}

TEST(PointerChase, LlcThatTakesWhatTheL2sEvictAddsToThem) {
    const Protocol table = shipped("mesif-snoop-filter");
    EXPECT_EQ(mean_stall(server(), table, 1024 * kKiB), kL2);
    EXPECT_EQ(mean_stall(server(), table, 16384 * kKiB), kLlc);
    EXPECT_LT(mean_stall(server(), table, 24576 * kKiB),
              mean_stall(server(), shipped("mesi-llc"), 24576 * kKiB));
}

TEST(PointerChase, EndsOfThePlateausAreTheSizesThemselves) {
    const Protocol table = shipped("mesi-llc");
    EXPECT_EQ(mean_stall(server(), table, 48 * kKiB), 0);
    EXPECT_GT(mean_stall(server(), table, 49 * kKiB), 0);
    EXPECT_EQ(mean_stall(server(), table, 1280 * kKiB), kL2);
    EXPECT_GT(mean_stall(server(), table, 1290 * kKiB), kL2);
    // Sets of the slices get 11 to 13 lines each of an array as large as the cache.
    EXPECT_GT(mean_stall(server(), table, 24576 * kKiB), kLlc);
    EXPECT_LT(mean_stall(server(), table, 24576 * kKiB), kMem / 2);
}

/// With moesi-victim an L3 of 32 MiB for each group of 8 cores, in place of the LLC.
Machine of_groups() {
    Machine m = server();
    m.llc.reset();
    m.group = Group{8, {32768 * kKiB, 16}};
    m.latency.group = kGroup;
    m.check("the test's machine");
    return m;
}

TEST(PointerChase, GroupCacheAddsItsSizeToTheL2) {
    const Protocol table = shipped("moesi-victim");
    for (std::uint64_t kib = 8; kib <= 65536; kib *= 2) {
        const unsigned expected = kib <= 32 ? 0 : kib <= 1024 ? kL2 : kib <= 32768 ? kGroup : kMem;
        EXPECT_EQ(mean_stall(of_groups(), table, kib * kKiB), expected) << kib << " KiB";
    }
    EXPECT_EQ(mean_stall(of_groups(), table, 32768 * kKiB), kGroup);
    EXPECT_GT(mean_stall(of_groups(), table, 36864 * kKiB), kGroup);
}

}  // namespace s80::model
