// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "plugin/block.h"

namespace s80::plugin {

namespace {

/// The largest block that fits into a word, in every field.
Block largest() {
    Block b;
    b.instructions = 127;
    b.privilege = 1;
    b.lines = {4, 0};
    b.first = {0xffff'fffe, 0};
    b.classes = {63, 47, 15, 1, 1, 0};
    return b;
}

}  // namespace

TEST(BlockWord, CarriesEveryField) {
    const auto word = BlockWord::pack(largest());
    ASSERT_TRUE(word);
    EXPECT_TRUE(word->packed());
    const BlockWord back(word->word());
    EXPECT_EQ(back.instructions(), 127U);
    EXPECT_EQ(back.privilege(), 1U);
    EXPECT_EQ(back.line(), 0xffff'fffeU);
    EXPECT_EQ(back.extra_lines(), 3U);
    EXPECT_EQ(back.loads(), 63U);
    EXPECT_EQ(back.stores(), 47U);
    EXPECT_EQ(back.both(), 15U);
    EXPECT_EQ(back.conditional(), 1U);
    EXPECT_EQ(back.unconditional(), 1U);
}

TEST(BlockWord, OneStepBeyondAnyFieldDoesNotFit) {
    const auto refuses = [](auto&& change) {
        Block b = largest();
        change(b);
        return !BlockWord::pack(b);
    };
    EXPECT_TRUE(refuses([](Block& b) { b.instructions = 128; }));
    EXPECT_TRUE(refuses([](Block& b) { b.lines[0] = 5; }));
    EXPECT_TRUE(refuses([](Block& b) { b.lines[0] = 0; }));
    EXPECT_TRUE(refuses([](Block& b) { b.lines[1] = 1; }));
    EXPECT_TRUE(refuses([](Block& b) { b.entered = model::KernelEntry::tick; })) << "looked at by itself";
    EXPECT_TRUE(refuses([](Block& b) { b.classes[0] = 64; }));
    EXPECT_TRUE(refuses([](Block& b) { b.classes[1] = 64; }));
    EXPECT_TRUE(refuses([](Block& b) { b.classes[2] = 16; }));
    EXPECT_TRUE(refuses([](Block& b) { b.classes[3] = 2; }));
}

TEST(BlockWord, TheIdDoesNotDependOnWhetherTheBlockFits) {
    Block b = largest();
    const std::uint64_t packed = BlockWord::pack(b)->id();
    EXPECT_EQ(BlockWord::point_to(b).id(), packed);
    b.first[0] -= 1;
    EXPECT_NE(BlockWord::point_to(b).id(), packed);
    b = largest();
    b.instructions -= 1;
    EXPECT_NE(BlockWord::pack(b)->id(), packed);
}

TEST(BlockWord, LargeBlocksArePointedTo) {
    Block b = largest();
    b.instructions = 500;
    const BlockWord word = BlockWord::point_to(b);
    EXPECT_FALSE(word.packed());
    EXPECT_FALSE(word.named());
    EXPECT_EQ(&word.counts().block(), &b);
}

TEST(BlockWord, ABlockThatFitsMayHaveItsAddressBesideIt) {
    for (const std::uint8_t privilege : {0, 1}) {
        Block b = largest();
        b.privilege = privilege;
        const BlockWord packed = *BlockWord::pack(b);
        EXPECT_FALSE(packed.named());
        EXPECT_EQ(packed.counts().word(), packed.word());
        const NamedBlock block{packed.word(), 0x55555fc0};
        const BlockWord word = BlockWord::point_to(block);
        EXPECT_FALSE(word.packed());
        ASSERT_TRUE(word.named());
        EXPECT_EQ(word.named_block().address, 0x55555fc0U);
        EXPECT_EQ(word.counts().word(), packed.word());
    }
}

}  // namespace s80::plugin
