// SPDX-License-Identifier: GPL-2.0-or-later
#include "sizes.hpp"

#include <gtest/gtest.h>

#include <array>

namespace s80::mailstore {
namespace {

TEST(Sizes, MeanOfTheTable) {
    // 0.45 * 1062 + 0.38 * 2050 + 0.10 * 5321 + 0.05 * 34762 + 0.02 * 139602, rounded down
    EXPECT_EQ(mean_message_bytes(), 6319U);
}

TEST(Sizes, ADeckHasTheStudysDistributionExactly) {
    Random random(7);
    SizeDeck deck(random);
    for (int round = 0; round < 3; ++round) {
        std::array<int, size_classes.size()> seen{};
        for (int card = 0; card < 100; ++card) {
            const std::size_t bytes = deck.draw();
            for (std::size_t kind = 0; kind < seen.size(); ++kind) {
                const std::size_t size = size_classes[kind].bytes;
                if (bytes >= size - size / 10 && bytes <= size + size / 10) ++seen[kind];
            }
        }
        EXPECT_EQ(seen, (std::array<int, size_classes.size()>{45, 38, 10, 5, 2}));
    }
}

}  // namespace
}  // namespace s80::mailstore
