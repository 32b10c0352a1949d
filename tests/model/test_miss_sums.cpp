// SPDX-License-Identifier: GPL-2.0-or-later
// Sums of requests, and what is left of them in little room.
#include "observe/miss_sums.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <tuple>
#include <vector>

namespace s80::model {

namespace {

constexpr std::uint64_t kLine = 64;
constexpr std::size_t kLines = 1U << 20;

Miss request(std::uint64_t address, Source source = Source::M, Kind kind = Kind::load) {
    Miss miss;
    miss.address = 0x7000'0000'0000 + address;
    miss.physical = address / kLine * kLine;
    miss.pc = 0x400000;
    miss.traits.kind = kind;
    miss.traits.source = source;
    miss.traits.supplier = source == Source::memory ? kNobody : 1;
    miss.traits.size = 8;
    miss.stall = 10;
    miss.reads = kind == Kind::store ? 0 : 1;
    miss.writes = kind == Kind::store ? 1 : 0;
    return miss;
}

/// All requests, mostly to few lines.
std::vector<Miss> drawn() {
    const auto one = rc::gen::exec([] {
        const bool hot = *rc::gen::inRange(0, 3) != 0;
        const std::uint64_t word = *rc::gen::inRange<std::uint64_t>(0, hot ? 16 : 4096);
        Miss miss =
            request(word * 8 * (hot ? 1 : 1001) % (kLines * kLine),
                    static_cast<Source>(*rc::gen::inRange(0, 5)), static_cast<Kind>(*rc::gen::inRange(0, 4)));
        miss.traits.core = static_cast<std::uint8_t>(*rc::gen::inRange(0, 3));
        miss.who = static_cast<std::uint32_t>(*rc::gen::inRange(0, 3));
        miss.pc = static_cast<std::uint64_t>(*rc::gen::inRange(0, 4));
        miss.traits.request = *rc::gen::inRange(0, 4) == 0 ? Request::upgrade : Request::miss;
        miss.stall = static_cast<std::uint32_t>(*rc::gen::inRange(0, 200));
        miss.time_ns = static_cast<std::uint64_t>(*rc::gen::inRange(0, 1000));
        return miss;
    });
    return *rc::gen::container<std::vector<Miss>>(one);
}

struct Totals {
    std::uint64_t count = 0;
    std::uint64_t stall = 0;
    std::uint64_t own_reads = 0;
    std::map<std::tuple<unsigned, Kind, Request, Source>, std::uint64_t> by_source;
    bool operator==(const Totals&) const = default;
};

Totals totals(const MissSums& sums) {
    Totals found;
    for (const MissSum& sum : sums.sums()) {
        found.count += sum.count;
        found.stall += sum.stall;
        found.own_reads += sum.own_reads;
        found.by_source[{sum.key.traits.core, sum.key.traits.kind, sum.key.traits.request,
                         sum.key.traits.source}] += sum.count;
    }
    return found;
}

MissSums& fill(MissSums& sums, const std::vector<Miss>& log) {
    for (const Miss& miss : log) {
        sums.add(miss);
    }
    return sums;
}

}  // namespace

TEST(MissSums, EqualRequestsBecomeOneSum) {
    MissSums sums(kLines, kLine, 100);
    Miss first = request(0x1000);
    first.time_ns = 7;
    Miss second = request(0x1000);
    second.time_ns = 9;
    second.stall = 20;
    second.reads = 2;
    fill(sums, {first, second, request(0x1008)});
    ASSERT_EQ(sums.sums().size(), 2U);
    const MissSum& sum = sums.sums()[0];
    EXPECT_EQ(sum.count, 2U);
    EXPECT_EQ(sum.stall, 30U);
    EXPECT_EQ(sum.first_ns, 7U);
    EXPECT_EQ(sum.last_ns, 9U);
    EXPECT_EQ(sum.reads, 3U);
    EXPECT_EQ(sum.key.physical, 0x1000U);
    EXPECT_EQ(sum.key.address, 0x7000'0000'1000U);
    EXPECT_EQ(sums.sums()[1].count, 1U);
}

TEST(MissSums, StoreAfterOwnReadIsCounted) {
    const auto by = [](unsigned core, Kind kind) {
        Miss miss = request(0x40, Source::M, kind);
        miss.traits.core = static_cast<std::uint8_t>(core);
        return miss;
    };
    MissSums sums(kLines, kLine, 100);
    fill(sums,
         {by(0, Kind::load), by(0, Kind::store), by(1, Kind::load), by(0, Kind::store), by(0, Kind::store)});
    EXPECT_EQ(totals(sums).own_reads, 1U);
    fill(sums, {by(1, Kind::load), request(0x80), by(1, Kind::store)});
    EXPECT_EQ(totals(sums).own_reads, 2U) << "requests of other lines lie between";
}

TEST(MissSums, MemoryLosesItsLinesFirst) {
    constexpr std::size_t kLimit = 1000;
    MissSums sums(kLines, kLine, kLimit);
    for (unsigned i = 0; i < 100; ++i) {
        sums.add(request(i * kLine, Source::M));
    }
    for (unsigned i = 0; i < 2000; ++i) {
        sums.add(request(0x100000 + i * kLine, Source::memory));
    }
    std::uint64_t lines = 0;
    for (const MissSum& sum : sums.sums()) {
        if (sum.key.traits.source == Source::M) {
            EXPECT_EQ(sum.key.range, 0);
            ++lines;
        } else if (sum.key.range != 0) {
            EXPECT_EQ(sum.key.range, 12);
            EXPECT_EQ(sum.key.physical, MissKey::kNoPhysical);
            EXPECT_EQ(sum.key.address % 4096, 0U);
            EXPECT_LE(sum.count, 4096 / kLine);
            EXPECT_GT(sum.count, 1U);
        }
    }
    EXPECT_EQ(lines, 100U);
    EXPECT_EQ(totals(sums).count, 2100U);
}

TEST(MissSums, FrequentTransfersKeepTheirLinesLongest) {
    MissSums sums(kLines, kLine, 1000);
    for (unsigned i = 0; i < 5000; ++i) {
        sums.add(request(0, Source::M));
        sums.add(request(4096 * (1 + i * 7919 % 16000), Source::M));
    }
    EXPECT_EQ(sums.sums()[0].key.range, 0);
    EXPECT_EQ(sums.sums()[0].count, 5000U);
    EXPECT_EQ(totals(sums).count, 10000U);
}

TEST(MissSums, TooManyKindsOfRequestsAreRefused) {
    MissSums sums(kLines, kLine, 4);
    EXPECT_THROW(
        {
            for (unsigned core = 0; core < 8; ++core) {
                Miss miss = request(0);
                miss.traits.core = static_cast<std::uint8_t>(core);
                sums.add(miss);
            }
        },
        Error);
}

RC_GTEST_PROP(MissSums, RoomForAllKeepsEachDistinctRequest, ()) {
    const std::vector<Miss> log = drawn();
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, unsigned, Kind, Request, Source>;
    std::map<Key, std::pair<std::uint64_t, std::uint64_t>> expected;
    for (const Miss& miss : log) {
        auto& [count, stall] = expected[{miss.address, miss.pc, miss.who, miss.traits.core, miss.traits.kind,
                                         miss.traits.request, miss.traits.source}];
        ++count;
        stall += miss.stall;
    }
    MissSums sums(kLines, kLine, 100'000);
    std::map<Key, std::pair<std::uint64_t, std::uint64_t>> found;
    for (const MissSum& sum : fill(sums, log).sums()) {
        found[{sum.key.address, sum.key.pc, sum.key.who, sum.key.traits.core, sum.key.traits.kind,
               sum.key.traits.request, sum.key.traits.source}] = {sum.count, sum.stall};
    }
    RC_ASSERT(found == expected);
}

RC_GTEST_PROP(MissSums, FoldingKeepsTotals, ()) {
    const std::vector<Miss> log = drawn();
    MissSums large(kLines, kLine, 100'000);
    // All that remains at last: 3 cores, 4 kinds, 5 sources, 2 requests, their suppliers.
    MissSums small(kLines, kLine, 300);
    RC_ASSERT(totals(fill(small, log)) == totals(fill(large, log)));
    RC_ASSERT(small.sums().size() < small.limit());
}

}  // namespace s80::model
