// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap_script.hpp"

#include <gtest/gtest.h>

namespace s80::mailstore {
namespace {

constexpr std::string_view drawn =
    "From a@b Thu Jan  1 00:00:00 2026\nSubject: one\nX-UID: 1\nStatus: RO\n\nText\n\n";

TEST(ImapScript, CreatesMailboxesAndAppendsTheirMailWithFlagsAndTimes) {
    const Position position{"user001", 1767225600, 1, 2, 1767225600};
    ImapScript script("user001", "secret");
    script.mailbox("INBOX");
    script.message(drawn, position);
    script.message(drawn, position);
    script.mailbox("sent");
    script.message(drawn, position);
    const std::string literal =
        " (\\Seen) \" 1-Jan-2026 00:00:00 +0000\" {22+}\r\nSubject: one\r\n\r\nText\r\n";
    EXPECT_EQ(script.finish(), "a1 LOGIN user001 secret\r\na2 APPEND INBOX" + literal + literal +
                                   "\r\na3 CREATE sent\r\na4 APPEND sent" + literal + "\r\na5 LOGOUT\r\n");
}

}  // namespace
}  // namespace s80::mailstore
