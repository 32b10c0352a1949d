// SPDX-License-Identifier: GPL-2.0-or-later
// Objects of memory allocators, by made-up calls.
#include "plugin/allocations.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/types.h"

namespace s80::plugin {

namespace {

using Size = Allocations::Size;
constexpr std::uint64_t kTable = 0x5000;
constexpr std::uint64_t kStack = 0x7ffe'0000;
constexpr std::uint64_t kCaller = 0x40'1234;
constexpr std::uint64_t kHere = 0x9'0234;  // the caller's physical address

std::string list(const std::string& text) {
    const std::string path = testing::TempDir() + "allocator.txt";
    std::ofstream(path) << text;
    return path;
}

std::string refusal(const std::string& text) {
    try {
        const Allocations read(list(text));
    } catch (const model::Error& error) {
        return error.what();
    }
    return "";
}

std::uint64_t nothing(std::uint64_t) {
    return 0;
}

Allocations::Call call(std::uint64_t first, std::uint64_t second = 0, std::uint64_t third = 0) {
    return {kTable, kStack, first, second, third, kCaller};
}

TEST(Allocations, ListNamesFunctionsAndWhereTheSizeIs) {
    const Allocations read(list("1000 first\nabc0 second\n2000 product\n3000 third\n"));
    EXPECT_EQ(read.entry_at(0x1000), Size::first);
    EXPECT_EQ(read.entry_at(0xabc0), Size::second);
    EXPECT_EQ(read.entry_at(0x2000), Size::product);
    EXPECT_EQ(read.entry_at(0x3000), Size::third);
    EXPECT_EQ(read.entry_at(0x1001), std::nullopt);
}

TEST(Allocations, DamagedListIsRefusedWithItsLine) {
    EXPECT_NE(refusal("1000 first\nfoo\n").find("line 2 is not a function"), std::string::npos);
    EXPECT_NE(refusal("1000 1100 first\n").find("line 1 is not a function"), std::string::npos);
    EXPECT_NE(refusal("1000 fourth\n").find("line 1 is not a function"), std::string::npos);
    EXPECT_NE(refusal("").find("has no function of an allocator"), std::string::npos);
}

TEST(Allocations, ObjectHasTheSizeOfTheArguments) {
    Allocations allocations("");
    std::uint64_t begin = 0x10'0000;
    const auto size = [&](Size where, const Allocations::Call& made) {
        allocations.entered(where, made, kHere);
        return allocations.returned({kTable, kStack, begin += 0x1000}, nothing)->size;
    };
    EXPECT_EQ(size(Size::first, call(24, 7)), 24U);
    EXPECT_EQ(size(Size::second, call(64, 256)), 256U);
    EXPECT_EQ(size(Size::product, call(3, 16)), 48U);
}

TEST(Allocations, FunctionThatStoresTheAddressIsReadAtItsReturn) {
    Allocations allocations("");
    const auto word = [](std::uint64_t address) {
        return address == 0x7ffe'1000 ? std::uint64_t{0x20'0040} : 0;
    };
    allocations.entered(Size::third, call(0x7ffe'1000, 64, 200), kHere);
    const Allocations::Object expected{0x20'0040, 200, kCaller};
    EXPECT_EQ(allocations.returned({kTable, kStack, 0}, word), expected);
    constexpr std::uint64_t kNoMemory = 12;  // ENOMEM
    allocations.entered(Size::third, call(0x7ffe'1000, 64, 200), kHere);
    EXPECT_EQ(allocations.returned({kTable, kStack, kNoMemory}, word), std::nullopt);
}

TEST(Allocations, ReturnIsFoundByProcessAndStack) {
    Allocations allocations("");
    allocations.entered(Size::first, call(8), kHere);
    EXPECT_TRUE(allocations.returns_to(kHere));
    EXPECT_FALSE(allocations.returns_to(kHere + 1));
    EXPECT_EQ(allocations.returned({kTable + 0x1000, kStack, 0x1000}, nothing), std::nullopt);
    EXPECT_EQ(allocations.returned({kTable, kStack + 8, 0x1000}, nothing), std::nullopt);
    EXPECT_TRUE(allocations.returned({kTable, kStack, 0x1000}, nothing).has_value());
    EXPECT_EQ(allocations.returned({kTable, kStack, 0x1000}, nothing), std::nullopt);
}

TEST(Allocations, FunctionThatJumpsToAnotherCountsOnce) {
    Allocations allocations("");
    allocations.entered(Size::second, call(0, 40), kHere);  // realloc(0, 40)
    allocations.entered(Size::first, call(40), kHere);      // malloc(40) with the same return
    EXPECT_EQ(allocations.returned({kTable, kStack, 0x1000}, nothing)->size, 40U);
    EXPECT_EQ(allocations.returned({kTable, kStack, 0x1000}, nothing), std::nullopt);
}

TEST(Allocations, FailedAndRepeatedCallsHaveNoObject) {
    Allocations allocations("");
    const auto returned = [&](std::uint64_t bytes, std::uint64_t result) {
        allocations.entered(Size::first, call(bytes), kHere);
        return allocations.returned({kTable, kStack, result}, nothing).has_value();
    };
    EXPECT_FALSE(returned(8, 0));
    EXPECT_TRUE(returned(8, 0x1000));
    EXPECT_FALSE(returned(8, 0x1000));
    EXPECT_TRUE(returned(16, 0x1000));
}

}  // namespace

}  // namespace s80::plugin
