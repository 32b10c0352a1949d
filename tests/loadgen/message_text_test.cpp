// SPDX-License-Identifier: GPL-2.0-or-later
#include "message_text.h"

#include <gtest/gtest.h>

#include <map>

namespace s80::loadgen {
namespace {

TEST(MessageText, SizesAreThoseOfTheStudy) {
    constexpr int kDraws = 1'000'000;
    Random random(1);
    std::map<std::size_t, double> percent;
    for (int i = 0; i < kDraws; ++i) {
        percent[message_size(random.uniform())] += 100.0 / kDraws;
    }
    ASSERT_EQ(percent.size(), 5u);
    EXPECT_NEAR(percent[1062], 45, 0.2);
    EXPECT_NEAR(percent[2050], 38, 0.2);
    EXPECT_NEAR(percent[5321], 10, 0.2);
    EXPECT_NEAR(percent[34762], 5, 0.2);
    EXPECT_NEAR(percent[139602], 2, 0.2);
}

TEST(MessageText, AMessageHasItsSizeAndNeedsNoDotStuffing) {
    const MessageText text;
    Random random(1);
    for (const std::size_t size : {1062u, 2050u, 5321u, 34762u, 139602u}) {
        const std::string message = text.compose(random, "a@s80.example", "b@s80.example", size);
        EXPECT_LE(message.size(), size);
        EXPECT_GT(message.size() + 100, size) << "short by less than a line";
        EXPECT_TRUE(message.ends_with("\r\n"));
        EXPECT_EQ(message.find("\n."), std::string::npos);
        EXPECT_EQ(message.find("\nFrom "), std::string::npos);
    }
}

}  // namespace
}  // namespace s80::loadgen
