// SPDX-License-Identifier: GPL-2.0-or-later
#include "message.h"

#include <gtest/gtest.h>

namespace s80::route {
namespace {

TEST(Message, ContentFollowsFromTheNumber) {
    const Content one;
    const Content other;
    EXPECT_EQ(one.of(4711, 500), other.of(4711, 500));
    EXPECT_NE(one.of(4711, 500), one.of(4712, 500));
    EXPECT_EQ(one.of(~std::uint64_t{0}, kMostBytes).size(), kMostBytes);
}

TEST(Message, SumIsThatOfTheBytes) {
    const Content content;
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{48}, kMostBytes}) {
        const std::string_view bytes = content.of(99, size);
        std::uint64_t sum = 0;
        for (const char byte : bytes) {
            sum += static_cast<unsigned char>(byte);
        }
        EXPECT_EQ(content.sum(99, size), sum) << size;
    }
}

TEST(Message, HeadersAreReadAsTheyWereWritten) {
    std::string bytes;
    put_header(bytes, MessageHeader{64, 16, 0x0102030405060708});
    EXPECT_EQ(bytes, std::string("\x40\0\0\0\x10\0\0\0\x08\x07\x06\x05\x04\x03\x02\x01", kHeaderBytes));
    const auto header = read_header<MessageHeader>(bytes);
    EXPECT_EQ(header.size, 64u);
    EXPECT_EQ(header.reply_size, 16u);
    EXPECT_EQ(header.number, 0x0102030405060708u);
}

}  // namespace
}  // namespace s80::route
