// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/mailboxes.h"

#include "accounts.h"

#include <gtest/gtest.h>

namespace s80::loadgen {
namespace {

TEST(Mailboxes, NeitherInboxNorTheSelectedOneCanGo) {
    Mailboxes boxes;
    boxes.assign({"a", "Inbox", "b"});
    boxes.select(2);
    EXPECT_EQ(boxes.movable(), (std::vector<std::size_t>{0}));
    boxes.remove(0);
    EXPECT_EQ(boxes.selected().name, "b");
    EXPECT_TRUE(boxes.movable().empty());
}

TEST(Mailboxes, AMailboxAtTheLimitIsNoTarget) {
    Mailboxes boxes;
    boxes.assign({"INBOX", "a", "b"});
    boxes[1].messages = 9;
    boxes[2].messages = 10;
    EXPECT_EQ(boxes.targets(10), (std::vector<std::size_t>{1}));
    EXPECT_EQ(boxes.targets(11), (std::vector<std::size_t>{1, 2}));
}

TEST(Mailboxes, CreatedOnesAreToldByTheirName) {
    Random random(1);
    Mailboxes boxes;
    boxes.assign({"INBOX"});
    const std::string created = boxes.fresh_name(random, true);
    const std::string renamed = boxes.fresh_name(random, false);
    boxes.assign({"INBOX", created, renamed});
    EXPECT_TRUE(boxes[1].created);
    EXPECT_FALSE(boxes[2].created);
}

TEST(Mailboxes, NamesAreQuoted) {
    EXPECT_EQ(quoted("a \"b\\"), "\"a \\\"b\\\\\"");
    EXPECT_EQ(quoted("a\r\nb"), "{4+}\r\na\r\nb");
}

TEST(Accounts, AreNumberedFromOneAndFullOnesAreSpared) {
    EXPECT_EQ(Accounts::address(0), "user001@s80.example");
    EXPECT_EQ(Accounts::user(1233), "user1234");
    Random random(1);
    Accounts accounts(3);
    accounts.inbox(0) = accounts.inbox(2) = 5;
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(accounts.recipient(random, 5), 1u);
    }
    accounts.inbox(1) = 5;
    EXPECT_EQ(accounts.recipient(random, 5), accounts.size());
}

}  // namespace
}  // namespace s80::loadgen
