// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "plugin/miss_log.h"
#include "plugin/sums_file.h"
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

TEST(SumsFile, HasSumsThenTheirDescriptionThenItsLength) {
    const std::string path = testing::TempDir() + "sums.bin";
    std::filesystem::remove(path);
    Whos whos;
    EXPECT_EQ(whos.number(7, "imap", 0, 6), 0U);
    EXPECT_EQ(whos.number(7, "imap", 0, 7), 1U) << "another process";
    EXPECT_EQ(whos.number(9, "unused", 1, 9), 2U);
    model::MissSums sums(1024, 128, 8);
    model::Miss miss;
    miss.physical = 0x1280;
    miss.who = 1;
    miss.stall = 5;
    sums.add(miss);
    sums.add(miss);
    SumsFile file(path);
    EXPECT_FALSE(std::filesystem::exists(path));
    file.write(sums, {3, false}, model::Machine::parse(test::kResolvedS80, "the test's machine"), whos);

    std::ifstream stream(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_EQ(content.substr(0, 8), "S80SUMS1");
    model::MissSum sum;
    ASSERT_GT(content.size(), 8 + sizeof sum + 8);
    std::memcpy(&sum, content.data() + 8, sizeof sum);
    EXPECT_EQ(sum.key.physical, 0x1280U);
    EXPECT_EQ(sum.count, 2U);
    EXPECT_EQ(sum.stall, 10U);
    std::uint64_t length = 0;
    std::memcpy(&length, content.data() + content.size() - 8, sizeof length);
    ASSERT_EQ(8 + sizeof sum + length + 8, content.size());
    const std::string json = content.substr(8 + sizeof sum, length);
    EXPECT_NE(json.find("\"complete\":false,\"regions\":3,\"limit\":8,"
                        "\"requests\":{\"line\":2,\"page\":0,\"range\":0},"
                        "\"whos\":[[7,\"imap\",0,6],[7,\"imap\",0,7]]}"),
              std::string::npos)
        << json;
    EXPECT_NE(json.find("\"kind\":[\"ifetch\",\"load\",\"store\",\"walk\"]"), std::string::npos) << json;
    std::filesystem::remove(path);
}

TEST(SumsFile, IncompleteFileIsRemoved) {
    const std::string path = testing::TempDir() + "cut-sums.bin";
    { const SumsFile file(path); }
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
    EXPECT_THROW(SumsFile("/dev/null/sums.bin"), model::Error);
}

}  // namespace s80::plugin
