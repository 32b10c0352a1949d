// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sums_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "resolved_machine.h"

namespace s80::plugin {

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
    EXPECT_EQ(sum.physical, 0x1280U);
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
