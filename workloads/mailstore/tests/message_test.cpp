// SPDX-License-Identifier: GPL-2.0-or-later
#include "message.hpp"

#include <gtest/gtest.h>

#include "sizes.hpp"

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
    for (const auto& size : size_classes) {
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

}  // namespace
}  // namespace s80::mailstore
