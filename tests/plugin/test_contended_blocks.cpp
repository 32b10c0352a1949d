// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "plugin/contended_blocks.h"

namespace s80::plugin {

using Kind = ContendedBlocks::Kind;

TEST(ContendedBlocks, AreRememberedInTheirEpochAndTheNext) {
    ContendedBlocks blocks;
    EXPECT_EQ(blocks.find(7, 1), Kind::none);
    blocks.add(7, 1, true);
    EXPECT_EQ(blocks.find(7, 1), Kind::user);
    EXPECT_EQ(blocks.find(7, 2), Kind::user);
    EXPECT_EQ(blocks.find(7, 3), Kind::none);
    blocks.add(7, 3, false);
    EXPECT_EQ(blocks.find(7, 4), Kind::kernel);
}

/// Blocks differ in their count of instructions and in their line (from bit 16).
TEST(ContendedBlocks, NeighbouringBlocksAreNotTakenForOneAnother) {
    ContendedBlocks blocks;
    blocks.add(0x1234'5678'9abd, 1, true);
    for (unsigned bit = 0; bit < 48; ++bit) {
        EXPECT_EQ(blocks.find(0x1234'5678'9abd ^ std::uint64_t{1} << bit, 1), Kind::none) << bit;
    }
}

}  // namespace s80::plugin
