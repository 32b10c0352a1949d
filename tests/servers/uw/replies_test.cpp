// SPDX-License-Identifier: GPL-2.0-or-later
#include "replies.hpp"

#include <gtest/gtest.h>

namespace s80::uw {
namespace {

TEST(Replies, NamesAreQuotedOrLiterals) {
    EXPECT_EQ(as_string("folder 1"), "\"folder 1\"");
    EXPECT_EQ(as_string("a\"b\\c"), "\"a\\\"b\\\\c\"");
    EXPECT_EQ(as_string("a\r\nb"), "{4}\r\na\r\nb");
    EXPECT_EQ(as_string("\xc3\xa4"), "{2}\r\n\xc3\xa4");
}

TEST(Replies, AReasonStaysOnItsLine) {
    EXPECT_EQ(as_text("no\r\na1 OK"), "no  a1 OK");
}

}  // namespace
}  // namespace s80::uw
