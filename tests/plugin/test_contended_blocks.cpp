// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "plugin/contended_blocks.h"

namespace s80::plugin {

TEST(ContendedBlocks, AreRememberedInTheirEpochAndTheNext) {
    ContendedBlocks blocks;
    EXPECT_FALSE(blocks.contain(7, 1));
    blocks.add(7, 1);
    EXPECT_TRUE(blocks.contain(7, 1));
    EXPECT_TRUE(blocks.contain(7, 2));
    EXPECT_FALSE(blocks.contain(7, 3));
    blocks.add(7, 3);
    EXPECT_TRUE(blocks.contain(7, 4));
}

/// Blocks differ in their count of instructions and in their line (from bit 16).
TEST(ContendedBlocks, NeighbouringBlocksAreNotTakenForOneAnother) {
    ContendedBlocks blocks;
    blocks.add(0x1234'5678'9abd, 1);
    for (unsigned bit = 0; bit < 48; ++bit) {
        EXPECT_FALSE(blocks.contain(0x1234'5678'9abd ^ std::uint64_t{1} << bit, 1)) << bit;
    }
}

}  // namespace s80::plugin
