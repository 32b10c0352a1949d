// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/hashed_table.h"

#include <gtest/gtest.h>

#include <map>

namespace s80::plugin {

namespace {

constexpr std::uint64_t kBytes = 1 << 20;
constexpr std::uint64_t kPage = 4096;

}  // namespace

TEST(HashedTable, NeighbouringPagesHaveGroupsOfTheirOwn) {
    const HashedTable table(kBytes);
    std::map<std::uint64_t, int> groups;
    for (std::uint64_t page = 0; page < 4096; ++page) {
        const std::uint64_t group = table.group(7, page * kPage);
        EXPECT_LT(group, kBytes);
        EXPECT_EQ(group % 128, 0U);
        ++groups[group];
        EXPECT_EQ(group, table.group(7, page * kPage + kPage - 1)) << "a page is in one group";
    }
    EXPECT_EQ(groups.size(), 4096U) << "within a segment the hash is one to one";
}

TEST(HashedTable, SegmentsAndAddressSpacesAreScattered) {
    const HashedTable table(kBytes);
    std::map<std::uint64_t, int> groups;
    for (std::uint64_t space = 1; space <= 64; ++space) {
        for (std::uint64_t segment = 0; segment < 64; ++segment) {
            ++groups[table.group(space, segment << 28)];
        }
    }
    // 4096 balls into 8192 bins leave 3224 of them with one or more.
    EXPECT_GT(groups.size(), 2900U);
}

TEST(HashedTable, TheKernelIsOneInAllAddressSpaces) {
    constexpr std::uint64_t kKernel = 0xffff'8880'0000'0000;
    EXPECT_EQ(HashedTable::space(0x1000, kKernel), HashedTable::space(0x2000, kKernel));
    EXPECT_NE(HashedTable::space(0x1000, 0x1000), HashedTable::space(0x2000, 0x1000));
}

}  // namespace s80::plugin
