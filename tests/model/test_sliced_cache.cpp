// SPDX-License-Identifier: GPL-2.0-or-later
#include "cache/sliced_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>

namespace s80::model {

namespace {

constexpr unsigned kLineBytes = 64;

SlicedGeometry geometry(unsigned slices, unsigned sets, unsigned ways, Policy policy = Policy::lru) {
    return {{std::uint64_t{slices} * sets * ways * kLineBytes, ways}, slices, policy};
}

SlicedCache cache(const SlicedGeometry& g) {
    return {g, kLineBytes, "a test"};
}

/// Accesses a line. Returns the line that had to leave, or kNoLine.
Line access(SlicedCache& c, Line line) {
    if (const auto slot = c.find(line)) {
        c.touch(line, slot);
        return kNoLine;
    }
    const auto slot = c.place(line);
    const Line victim = c.victim(line, slot);
    c.fill(line, slot);
    return victim;
}

}  // namespace

TEST(SlicedCache, OneSliceIsAPlainCache) {
    const auto c = cache(geometry(1, 8, 2));
    for (Line line = 0; line < 1000; ++line) {
        EXPECT_EQ(c.slice_of(line), 0U);
    }
}

TEST(SlicedCache, LinesSpreadEvenlyOverSlicesAtEveryDistance) {
    for (const unsigned slices : {3U, 8U, 14U, 60U}) {
        const auto c = cache(geometry(slices, 1, 1));
        for (unsigned shift = 0; shift < 20; ++shift) {
            std::vector<unsigned> lines(slices);
            const unsigned each = 64;
            for (Line n = 0; n < slices * each; ++n) {
                ++lines[c.slice_of(n << shift)];
            }
            const auto [least, most] = std::minmax_element(lines.begin(), lines.end());
            EXPECT_GE(*least, each - each / 8) << slices << " slices, distance 2^" << shift;
            EXPECT_LE(*most, each + each / 8) << slices << " slices, distance 2^" << shift;
        }
    }
}

TEST(SlicedCache, AnArrayOfThreeQuartersOfTheSizeStays) {
    auto c = cache(geometry(12, 64, 11));
    const Line lines = 12 * 64 * 11 * 3 / 4;
    unsigned left = 0;
    for (unsigned round = 0; round < 3; ++round) {
        for (Line line = 0; line < lines; ++line) {
            left += access(c, line) != kNoLine ? 1U : 0U;
        }
    }
    EXPECT_EQ(left, 0U);
}

/// Against lists of lines, one for each slice and set.
RC_GTEST_PROP(SlicedCache, LruEvictsWhatAListWould, ()) {
    const auto slices = *rc::gen::inRange(1U, 6U);
    const unsigned sets = 1U << *rc::gen::inRange(0U, 3U);
    const auto ways = *rc::gen::inRange(1U, 33U);
    auto c = cache(geometry(slices, sets, ways));
    std::map<std::pair<unsigned, unsigned>, std::list<Line>> naive;
    const auto lines =
        *rc::gen::container<std::vector<Line>>(rc::gen::inRange<Line>(0, 4 * slices * sets * ways));
    for (const Line line : lines) {
        auto& set = naive[{c.slice_of(line), line % sets}];
        const auto at = std::find(set.begin(), set.end(), line);
        Line expected = kNoLine;
        if (at != set.end()) {
            set.erase(at);
        } else if (set.size() == ways) {
            expected = set.back();
            set.pop_back();
        }
        set.push_front(line);
        RC_ASSERT(access(c, line) == expected);
    }
    std::set<Line> held;
    c.each_line([&](Line line) { held.insert(line); });
    std::set<Line> expected;
    for (const auto& [place, set] : naive) {
        expected.insert(set.begin(), set.end());
    }
    RC_ASSERT(held == expected);
}

RC_GTEST_PROP(SlicedCache, ARestoredArrayGoesOnLikeTheSavedOne, ()) {
    const auto policy = *rc::gen::element(Policy::lru, Policy::plru, Policy::random, Policy::srrip);
    const auto g = geometry(*rc::gen::inRange(1U, 4U), 2, 1U << *rc::gen::inRange(0U, 6U), policy);
    auto saved = cache(g);
    const auto lines = rc::gen::container<std::vector<Line>>(rc::gen::inRange<Line>(0, 300));
    for (const Line line : *lines) {
        access(saved, line);
    }
    auto restored = cache(g);
    const auto words = saved.state();
    RC_ASSERT(words.size() == restored.state_words());
    RC_ASSERT(restored.set_state(words, 300));
    for (const Line line : *lines) {
        RC_ASSERT(access(restored, line) == access(saved, line));
    }
    RC_ASSERT(restored.state() == saved.state());
}

TEST(SlicedCache, AStateWithALineOutsideOfMemoryIsRefused) {
    const auto g = geometry(2, 2, 2);
    auto saved = cache(g);
    access(saved, 99);
    auto restored = cache(g);
    EXPECT_TRUE(restored.set_state(saved.state(), 100));
    EXPECT_FALSE(restored.set_state(saved.state(), 99));
}

}  // namespace s80::model
