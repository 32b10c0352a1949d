// SPDX-License-Identifier: GPL-2.0-or-later
#include "text_pool.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace s80::mailstore {
namespace {

std::size_t longest_line(const std::string& text) {
    std::istringstream lines(text);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) {
        longest = std::max(longest, line.size());
    }
    return longest;
}

TEST(TextPool, ProseKeepsToMailsLineLength) {
    Random random(1);
    const std::string text(TextPool::prose(random, 50000).text());
    EXPECT_GE(text.size(), 50000U);
    EXPECT_LE(longest_line(text), 78U);
}

TEST(TextPool, FromAtALinesStartIsQuoted) {
    Random random(1);
    const std::string text(TextPool::prose(random, 200000).text());
    EXPECT_EQ(text.find("\nFrom "), std::string::npos);
    EXPECT_NE(text.find("\n>From "), std::string::npos);  // the case does occur
}

TEST(TextPool, Base64HasFullLinesOnly) {
    Random random(1);
    const std::string text(TextPool::base64(random, 10000).text());
    EXPECT_EQ(longest_line(text), 76U);
    EXPECT_EQ(text.size() % 77, 0U);
}

TEST(TextPool, ASliceIsOfWholeLinesAndNeverLongerThanAsked) {
    Random random(1);
    const TextPool pool =
        TextPool::base64(random, 1000);  // 13 lines: a slice of 3000 bytes wraps round twice
    std::string out;
    pool.append(out, 3000, random);
    EXPECT_EQ(out.size() % 77, 0U);
    EXPECT_LE(out.size(), 3000U);
    EXPECT_GT(out.size(), 3000U - 77);
}

}  // namespace
}  // namespace s80::mailstore
