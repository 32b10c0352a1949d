// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/miss_log.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "resolved_machine.h"

namespace s80::plugin {

namespace {

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST(MissLog, RecordsThenWhatTheyMeanThenItsLength) {
    const std::string path = testing::TempDir() + "misses.bin";
    std::filesystem::remove(path);
    Whos whos;
    EXPECT_EQ(whos.number(7, "imap", 0, 6), 0U);
    EXPECT_EQ(whos.number(7, "imap", Whos::kNoCall, 6), 1U);
    EXPECT_EQ(whos.number(7, "imap", 0, 6), 0U);
    EXPECT_EQ(whos.number(8, "a\"b\n", 1, 8), 2U);
    EXPECT_EQ(whos.number(9, "unused", 1, 9), 3U);
    MissLog log(path);
    model::Miss miss;
    miss.physical = 0x1280;
    miss.who = 2;
    log.write(miss);
    EXPECT_FALSE(std::filesystem::exists(path)) << "not before it is whole";
    log.finish(model::Machine::parse(test::kResolvedS80, "the test's machine"), whos);
    const std::string content = read(path);
    EXPECT_EQ(content.substr(0, 8), "S80MISS1");
    std::uint64_t physical = 0;
    std::memcpy(&physical, content.data() + 8 + 24, sizeof physical);
    EXPECT_EQ(physical, 0x1280U);
    std::uint64_t length = 0;
    std::memcpy(&length, content.data() + content.size() - 8, sizeof length);
    EXPECT_EQ(8 + 64 + length + 8, content.size());
    const std::string json = content.substr(8 + 64, length);
    EXPECT_NE(json.find("\"whos\":[[7,\"imap\",0],[7,\"imap\",-1],[8,\"a\\\"b?\",1]]"), std::string::npos)
        << json;
    EXPECT_NE(json.find("\"kind\":[\"ifetch\",\"load\",\"store\",\"walk\"]"), std::string::npos) << json;
    std::filesystem::remove(path);
}

TEST(MissLog, WhatIsNotWholeIsRemoved) {
    const std::string path = testing::TempDir() + "cut.bin";
    { MissLog log(path); }
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
    EXPECT_THROW(MissLog("/dev/null/misses.bin"), model::Error);
}

}  // namespace s80::plugin
