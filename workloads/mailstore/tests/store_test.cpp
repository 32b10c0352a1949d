// SPDX-License-Identifier: GPL-2.0-or-later
#include "store.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

namespace s80::mailstore {
namespace {

namespace fs = std::filesystem;

class Store : public testing::Test {
protected:
    void SetUp() override {
        root_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
        fs::remove_all(root_);
    }
    void TearDown() override { fs::remove_all(root_); }

    /// Builds a store and returns path (below its root) and content of every file.
    std::map<std::string, std::string> build(StoreOptions options, const std::string& name = "a") {
        options.root = root_ / name;
        fs::create_directories(options.root);
        build_store(options, [](std::uint32_t) {});
        std::map<std::string, std::string> files;
        for (const auto& entry : fs::recursive_directory_iterator(options.root)) {
            if (!entry.is_regular_file()) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            files[fs::relative(entry.path(), options.root)] = {std::istreambuf_iterator<char>(file), {}};
        }
        return files;
    }

    static StoreOptions options(std::uint64_t seed) {
        StoreOptions result;
        result.users = 10;
        result.mailboxes = 6;
        result.mailbox_kib = 64;
        result.seed = seed;
        return result;
    }

    fs::path root_;
};

TEST_F(Store, SameSeedSameBytes) {
    EXPECT_EQ(build(options(5), "a"), build(options(5), "b"));
}

TEST_F(Store, OtherSeedOtherBytes) {
    EXPECT_NE(build(options(5), "a").at("user001/inbox"), build(options(6), "b").at("user001/inbox"));
}

TEST_F(Store, AUsersMailDoesNotDependOnHowManyUsersThereAre) {
    auto few = options(5);
    few.users = 3;
    const auto small = build(few, "a");
    const auto large = build(options(5), "b");
    EXPECT_EQ(small.at("user003/inbox"), large.at("user003/inbox"));
}

TEST_F(Store, MailboxesAUserHaveTheMeanAskedForAndDifferByTwoAtMost) {
    const auto files = build(options(5));
    EXPECT_EQ(files.size(), 60U);
    std::map<std::string, int> each;
    for (const auto& [path, content] : files) ++each[path.substr(0, 7)];
    for (const auto& [user, count] : each) {
        EXPECT_GE(count, 4);
        EXPECT_LE(count, 8);
    }
}

TEST_F(Store, AUserAlwaysHasAnInbox) {
    auto one = options(5);
    one.mailboxes = 1;
    for (std::uint32_t user = 0; user < 10; ++user) EXPECT_EQ(mailbox_count(one, user), 1U);
}

TEST_F(Store, SizeIsAsAskedForOnAverage) {
    auto large = options(5);
    large.mailbox_kib = 512;
    double bytes = 0;
    for (const auto& [path, content] : build(large)) bytes += static_cast<double>(content.size());
    EXPECT_NEAR(bytes / (60 * 512 * 1024), 1.0, 0.1);
}

TEST_F(Store, FailureNamesTheFile) {
    auto unwritable = options(1);
    unwritable.root = root_ / "absent";
    try {
        build_store(unwritable, [](std::uint32_t) {});
        FAIL() << "a store below a folder that is not there";
    } catch (const std::system_error& error) {
        EXPECT_NE(std::string(error.what()).find("absent/user001"), std::string::npos);
    }
}

}  // namespace
}  // namespace s80::mailstore
