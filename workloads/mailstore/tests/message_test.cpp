// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <array>

#include "message.h"
#include "sizes.h"

namespace s80::mailstore {
namespace {

class Message : public testing::Test {
protected:
    std::string compose(std::size_t bytes, std::uint32_t uid = 1) {
        std::string out;
        append_message(out, bytes, {"user001", 1767225600, uid, 42, 1767225600}, pools_, random_);
        return out;
    }

    Random random_{3};
    Pools pools_{TextPool::prose(random_, 50000), TextPool::base64(random_, 50000)};
};

TEST_F(Message, HasAboutTheSizeAskedFor) {
    for (const auto& size : kSizeClasses) {
        const auto got = static_cast<double>(compose(size.bytes).size());
        EXPECT_NEAR(got, static_cast<double>(size.bytes), 0.05 * static_cast<double>(size.bytes) + 400);
    }
}

TEST_F(Message, BeginsWithItsFromLineAndEndsWithAnEmptyLine) {
    const std::string text = compose(2048);
    EXPECT_TRUE(text.starts_with("From "));
    EXPECT_NE(text.find(" Thu Jan  1 00:00:00 2026\n"), std::string::npos);
    EXPECT_TRUE(text.ends_with("\n\n"));
}

TEST_F(Message, ItsKindFollowsItsSize) {
    EXPECT_EQ(compose(1024).find("multipart"), std::string::npos);
    EXPECT_NE(compose(5120).find("multipart/alternative"), std::string::npos);
    EXPECT_NE(compose(34816).find("Content-Transfer-Encoding: base64"), std::string::npos);
}

TEST_F(Message, OnlyTheFirstCarriesTheMailboxsUidValidity) {
    EXPECT_NE(compose(1024, 1).find("\nX-IMAPbase: 1767225600 0000000042\nX-UID: 1\n"), std::string::npos);
    const std::string second = compose(1024, 2);
    EXPECT_EQ(second.find("X-IMAPbase"), std::string::npos);
    EXPECT_NE(second.find("\nX-UID: 2\n"), std::string::npos);
}

TEST(Sizes, MeanOfTheTable) {
    // 0.45 * 1062 + 0.38 * 2050 + 0.10 * 5321 + 0.05 * 34762 + 0.02 * 139602, rounded down
    EXPECT_EQ(mean_message_bytes(), 6319U);
}

TEST(Sizes, ADeckHasTheStudysDistributionExactly) {
    Random random(7);
    SizeDeck deck(random);
    for (int round = 0; round < 3; ++round) {
        std::array<int, kSizeClasses.size()> seen{};
        for (int card = 0; card < 100; ++card) {
            const std::size_t bytes = deck.draw();
            for (std::size_t kind = 0; kind < seen.size(); ++kind) {
                const std::size_t size = kSizeClasses[kind].bytes;
                if (bytes >= size - size / 10 && bytes <= size + size / 10) {
                    ++seen[kind];
                }
            }
        }
        EXPECT_EQ(seen, (std::array<int, kSizeClasses.size()>{45, 38, 10, 5, 2}));
    }
}

}  // namespace
}  // namespace s80::mailstore
