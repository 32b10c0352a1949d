// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "imap_script.h"
#include "maildir.h"
#include "store.h"

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
            if (!entry.is_regular_file()) {
                continue;
            }
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
    for (const auto& [path, content] : files) {
        ++each[path.substr(0, 7)];
    }
    for (const auto& [user, count] : each) {
        EXPECT_GE(count, 4);
        EXPECT_LE(count, 8);
    }
}

TEST_F(Store, AUserAlwaysHasAnInbox) {
    auto one = options(5);
    one.mailboxes = 1;
    for (std::uint32_t user = 0; user < 10; ++user) {
        EXPECT_EQ(mailbox_count(one, user), 1U);
    }
}

TEST_F(Store, SizeIsAsAskedForOnAverage) {
    auto large = options(5);
    large.mailbox_kib = 512;
    double bytes = 0;
    for (const auto& [path, content] : build(large)) {
        bytes += static_cast<double>(content.size());
    }
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

const Position position{"user001", 1767225600, 7, 42, 1767225600};

std::string in_mbox(const std::string& status) {
    return "From a@b Thu Jan  1 00:00:00 2026\nSubject: one\nX-UID: 7\nStatus: " + status +
           "\nX-Keywords:   \nContent-Type: text/plain\n\nStatus: of the body\n\nFrom\n\n";
}

TEST(Maildir, HoldsTheMessageWithoutWhatMboxAdds) {
    EXPECT_EQ(maildir_message(in_mbox("RO"), position).text,
              "Subject: one\nContent-Type: text/plain\n\nStatus: of the body\n\nFrom\n");
}

TEST(Maildir, NameHasOrderSizesAndWhetherItWasSeen) {
    EXPECT_EQ(maildir_message(in_mbox("RO"), position).name,
              "1767225600.M000007.mail.s80.example,S=65,W=71:2,S");
    EXPECT_EQ(maildir_message(in_mbox("O"), position).name,
              "1767225600.M000007.mail.s80.example,S=65,W=71:2,");
}

constexpr std::string_view kDrawn =
    "From a@b Thu Jan  1 00:00:00 2026\nSubject: one\nX-UID: 1\nStatus: RO\n\nText\n\n";

TEST(ImapScript, CreatesMailboxesAndAppendsTheirMailWithFlagsAndTimes) {
    const Position position{"user001", 1767225600, 1, 2, 1767225600};
    ImapScript script("user001", "secret");
    script.mailbox("INBOX");
    script.message(kDrawn, position);
    script.message(kDrawn, position);
    script.mailbox("sent");
    script.message(kDrawn, position);
    const std::string literal =
        " (\\Seen) \" 1-Jan-2026 00:00:00 +0000\" {22+}\r\nSubject: one\r\n\r\nText\r\n";
    EXPECT_EQ(script.finish(), "a1 LOGIN user001 secret\r\na2 APPEND INBOX" + literal + literal +
                                   "\r\na3 CREATE sent\r\na4 APPEND sent" + literal + "\r\na5 LOGOUT\r\n");
}

}  // namespace
}  // namespace s80::mailstore
