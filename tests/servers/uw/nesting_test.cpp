// SPDX-License-Identifier: GPL-2.0-or-later
#include "nesting.hpp"

#include <gtest/gtest.h>

#include <string>

namespace s80::uw {
namespace {

const std::string deepest(deepest_comment, '(');

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

TEST(Nesting, CommentAtTheLimitIsAllowedAndOneMoreIsNot) {
    EXPECT_FALSE(nests_too_deeply("From: " + deepest + "\r\n"));
    EXPECT_TRUE(nests_too_deeply("From: " + deepest + "(\r\n"));
}

TEST(Nesting, CommentsOfManyFieldsAreNotAdded) {
    EXPECT_FALSE(nests_too_deeply("From: " + deepest + "\r\nTo: " + deepest + "\r\n"));
    EXPECT_TRUE(nests_too_deeply("From: " + deepest + "\r\n " + deepest + "\r\n"));
    EXPECT_TRUE(nests_too_deeply("From: " + deepest + "\r\n\t(\r\n"));
}

TEST(Nesting, CommentsBesideEachOtherAreNotAdded) {
    EXPECT_FALSE(nests_too_deeply("To: " + repeated("a@b (c), ", 2 * deepest_comment)));
}

TEST(Nesting, EscapedBracketDoesNotEndAComment) {
    EXPECT_TRUE(nests_too_deeply("From: " + repeated("(\\)", deepest_comment + 1)));
    EXPECT_FALSE(nests_too_deeply("From: " + repeated("(\\\\)", 2 * deepest_comment)));
}

}  // namespace
}  // namespace s80::uw
