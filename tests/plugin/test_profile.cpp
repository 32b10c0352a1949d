// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/profile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace s80::plugin {

TEST(Profile, CountsByProcessAndBlock) {
    const std::string path = testing::TempDir() + "profile.json";
    std::filesystem::remove(path);
    Whos whos;
    const std::uint32_t in_call = whos.number(7, "imap", 0, 7);
    const std::uint32_t running = whos.number(7, "imap", Whos::kNoCall, 7);
    const model::Context user(model::ProcessClass::delivery, model::KernelEntry::user);
    const model::Context tick(model::ProcessClass::delivery, model::KernelEntry::tick);
    Profile profile(path);
    profile.sample(0x401000, running, user);
    profile.sample(0xffffffff81000000, in_call, tick);
    profile.sample(0x401000, running, user);
    profile.branch(0, true);
    profile.branch(0, true);
    profile.branch(1, false);
    EXPECT_FALSE(std::filesystem::exists(path)) << "not before it is whole";
    profile.finish(whos);
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find("\"period\":10007,"), std::string::npos) << text;
    EXPECT_NE(
        text.find(
            "\"branches\":{\"user\":{\"not_taken\":0,\"taken\":2},\"kernel\":{\"not_taken\":1,\"taken\":0}}"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("\"whos\":[[7,\"imap\",0],[7,\"imap\",-1]]"), std::string::npos) << text;
    EXPECT_NE(text.find("[18446744071578845184,0," + std::to_string(tick.value) + ",1],\n[4198400,1," +
                        std::to_string(user.value) + ",2]"),
              std::string::npos)
        << text;
}

TEST(Profile, AFolderThatIsNotThereIsNamed) {
    const Profile profile("/dev/null/profile.json");
    EXPECT_THROW(profile.finish(Whos{}), model::Error);
}

}  // namespace s80::plugin
