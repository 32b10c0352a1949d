// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/classes.h"

#include <gtest/gtest.h>

#include <fstream>

namespace s80::plugin {

namespace {

using model::Party;

Classes of(const std::string& text) {
    const std::string path = testing::TempDir() + "classes.toml";
    std::ofstream(path) << text;
    return Classes::load(path);
}

}  // namespace

TEST(Classes, AProcessIsOfTheClassThatNamesIt) {
    const Classes classes = of("session = [\"imap\", \"imap-login\"]\nloadgen = [\"s80-loadgen\"]\n");
    EXPECT_EQ(classes.of("imap"), Party::session);
    EXPECT_EQ(classes.of("imap-login"), Party::session);
    EXPECT_EQ(classes.of("s80-loadgen"), Party::loadgen);
    EXPECT_EQ(classes.of("imap-logi"), Party::other);
    EXPECT_EQ(Classes::load("").of("imap"), Party::other);
}

TEST(Classes, RefusesWhatNobodyCouldCount) {
    EXPECT_THROW(of("kernel = [\"kworker\"]\n"), model::Error) << "told without a name";
    EXPECT_THROW(of("session = [\"imap\"]\ndelivery = [\"imap\"]\n"), model::Error) << "in two classes";
    EXPECT_THROW(of("session = [\"longer-than-the-kernel\"]\n"), model::Error);
    EXPECT_THROW(of("session = \"imap\"\n"), model::Error);
    EXPECT_THROW(of("session = [\"imap\""), model::Error);
    EXPECT_THROW(Classes::load("/dev/null/classes.toml"), model::Error);
}

}  // namespace s80::plugin
