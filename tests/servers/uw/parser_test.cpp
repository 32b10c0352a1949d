// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <string>

#include "nesting.h"
#include "parser.h"
#include "replies.h"

namespace s80::uw {
namespace {

TEST(Parser, TakesACommandApart) {
    Parser parser("a1 LOGIN user001 \"sec\\\"ret\"");
    EXPECT_EQ(parser.tag(), "a1");
    parser.space();
    EXPECT_EQ(parser.keyword(), "LOGIN");
    parser.space();
    EXPECT_EQ(parser.astring(), "user001");
    parser.space();
    EXPECT_EQ(parser.astring(), "sec\"ret");
    parser.end();
}

TEST(Parser, ReadsLiteralsWhereverAStringMayBe) {
    Parser parser("{7}a \"b\" c {0} x");
    EXPECT_EQ(parser.astring(), "a \"b\" c");
    parser.space();
    EXPECT_EQ(parser.string(), "");
    parser.space();
    EXPECT_EQ(parser.astring(), "x");
    EXPECT_TRUE(parser.at_end());
}

TEST(Parser, RefusesBrokenStrings) {
    for (const char* text :
         {"\"no end", "\"no end\\", "{5}abc", "{x}abc", "{99999999999999999999}a", "{2", "(a)", ""}) {
        EXPECT_THROW(Parser(text).astring(), BadSyntax) << text;
    }
    EXPECT_THROW(Parser(std::string_view("{3}a\0b", 6)).astring(), BadSyntax);
    EXPECT_THROW(Parser("atom").string(), BadSyntax);
}

TEST(Parser, AtomsEndAtSpecials) {
    Parser parser("BODY.PEEK[");
    EXPECT_EQ(parser.fetch_name(), "BODY.PEEK");
    EXPECT_EQ(parser.peek(), '[');
    EXPECT_EQ(Parser("fol]der").astring(), "fol]der");
    EXPECT_EQ(Parser("a%b*").pattern(), "a%b*");
    EXPECT_EQ(Parser("a%b*").astring(), "a");
    EXPECT_THROW(Parser("+").tag(), BadSyntax);
}

TEST(Parser, ChecksTheFormOfSequences) {
    for (const char* good : {"1", "*", "1:*", "*:3", "1,2,5:7,*"}) {
        EXPECT_EQ(Parser(good).sequence(), good);
    }
    for (const char* bad : {"", "0", "1:", ":1", "1,,2", "1,", "**", "1:2:3", "a", "12345678901"}) {
        EXPECT_THROW(Parser(bad).sequence(), BadSyntax) << bad;
    }
}

TEST(Parser, ReadsFlagsWithAndWithoutBrackets) {
    EXPECT_EQ(Parser("(\\Seen work)").flags(), (std::vector<std::string>{"\\Seen", "work"}));
    EXPECT_EQ(Parser("\\Seen \\Deleted").flags(), (std::vector<std::string>{"\\Seen", "\\Deleted"}));
    EXPECT_TRUE(Parser("()").flags().empty());
    for (const char* bad : {"", "(", "(a", "(a b", "( a)", "(a )"}) {
        EXPECT_THROW(Parser(bad).flags(), BadSyntax) << bad;
    }
}

TEST(Parser, NumbersHaveALimit) {
    EXPECT_EQ(Parser("4294967295").number(), 4294967295U);
    EXPECT_THROW(Parser("99999999999999999999999").number(), BadSyntax);
    EXPECT_THROW(Parser("-1").number(), BadSyntax);
}

const std::string deepest(kDeepestComment, '(');

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) {
        all += text;
    }
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
    EXPECT_FALSE(nests_too_deeply("To: " + repeated("a@b (c), ", 2 * kDeepestComment)));
}

TEST(Nesting, EscapedBracketDoesNotEndAComment) {
    EXPECT_TRUE(nests_too_deeply("From: " + repeated("(\\)", kDeepestComment + 1)));
    EXPECT_FALSE(nests_too_deeply("From: " + repeated("(\\\\)", 2 * kDeepestComment)));
}

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
