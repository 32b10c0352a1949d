// SPDX-License-Identifier: GPL-2.0-or-later
#include "accounts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace s80::uw {
namespace {

/// Accounts of a file with this text.
Accounts accounts(const std::string& text, std::string_view pattern = "/mail/%u") {
    const std::string path = testing::TempDir() + "accounts-" + std::to_string(getpid());
    std::ofstream(path) << text;
    Accounts read(path, pattern);
    unlink(path.c_str());
    return read;
}

TEST(Accounts, APasswordOpensAHome) {
    const Accounts some = accounts("# users\n\nuser001:secret\nother:p w:/srv/o\nlast::/x\n");
    EXPECT_EQ(some.log_in("user001", "secret"), "/mail/user001");
    EXPECT_EQ(some.log_in("other", "p w"), "/srv/o");
    EXPECT_EQ(some.log_in("last", ""), "/x");
    EXPECT_FALSE(some.log_in("user001", "wrong"));
    EXPECT_FALSE(some.log_in("nobody", "secret"));
    EXPECT_FALSE(some.log_in("# users", ""));
}

TEST(Accounts, ABadFileIsNamed) {
    for (const char* text : {"user001\n", "../up:secret\n", ":secret\n", "a b:c\n"}) {
        EXPECT_THROW(accounts(text), std::runtime_error) << text;
    }
    EXPECT_THROW(accounts("user001:secret\n", ""), std::runtime_error);
    EXPECT_THROW(accounts("user001:secret:relative\n"), std::runtime_error);
    EXPECT_THROW(Accounts("/dev/null/at/all", "/mail/%u"), std::runtime_error);
}

TEST(Accounts, APatternIsFilledEverywhere) {
    EXPECT_EQ(home_by_pattern("/a/%u/b/%u", "%u"), "/a/%u/b/%u");
    EXPECT_EQ(home_by_pattern("/a/%u/b/%u", "me"), "/a/me/b/me");
}

}  // namespace
}  // namespace s80::uw
