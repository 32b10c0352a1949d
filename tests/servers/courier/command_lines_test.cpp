// SPDX-License-Identifier: GPL-2.0-or-later
#include "command_lines.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace s80::courier {
namespace {

TEST(BelowInbox, NamesBesideItAreTakenBelow) {
    EXPECT_EQ(below_inbox("a1 CREATE \"made-1\"\r\n"), "a1 CREATE \"INBOX.made-1\"\r\n");
    EXPECT_EQ(below_inbox("a1 select kept\r\n"), "a1 select INBOX.kept\r\n");
    EXPECT_EQ(below_inbox("a1 RENAME \"one\" \"two\"\r\n"), "a1 RENAME \"INBOX.one\" \"INBOX.two\"\r\n");
    EXPECT_EQ(below_inbox("a1 COPY 1:3 \"two words\"\r\n"), "a1 COPY 1:3 \"INBOX.two words\"\r\n");
    EXPECT_EQ(below_inbox("a1 UID COPY 1:3 box\r\n"), "a1 UID COPY 1:3 INBOX.box\r\n");
    EXPECT_EQ(below_inbox("a1 SELECT \"INBOXES\"\n"), "a1 SELECT \"INBOX.INBOXES\"\n");
    EXPECT_EQ(below_inbox("a1 DELETE \"a \\\" b\"\r\n"), "a1 DELETE \"INBOX.a \\\" b\"\r\n");
}

TEST(BelowInbox, AllElseStaysAsItIs) {
    for (const char* line :
         {"a1 SELECT \"INBOX\"\r\n", "a1 SELECT inbox\r\n", "a1 RENAME \"INBOX.one\" \"inbox.two\"\r\n",
          "a1 LIST \"\" \"*\"\r\n", "a1 FETCH 1 BODY[]\r\n", "a1 SEARCH SUBJECT \"SELECT one\"\r\n",
          "a1 SELECT {3}\r\n", "a1 LOGIN \"SELECT\" one\r\n", "a1 NOOP\r\n", "a1 SELECT\r\n",
          "SELECT one\r\n", "\r\n", "a1 UID\r\n"}) {
        EXPECT_EQ(below_inbox(line), line);
    }
}

TEST(CommandLines, ALiteralPassesUnchanged) {
    CommandLines lines;
    const std::string message = "x SELECT one\r\n";
    const std::string append = "a1 APPEND \"box\" {" + std::to_string(message.size()) + "}\r\n";
    EXPECT_EQ(lines.take(append + message + "\r\na2 SELECT two\r\n"),
              "a1 APPEND \"INBOX.box\" {14}\r\n" + message + "\r\na2 SELECT INBOX.two\r\n");
}

TEST(CommandLines, HoweverItComesInPieces) {
    const std::string sent = "a1 SELECT one\r\na2 APPEND two {4}\r\na b\n\r\na3 COPY 1 \"three\"\r\n";
    CommandLines at_once;
    const std::string whole = at_once.take(sent);
    EXPECT_NE(whole.find("INBOX.three"), std::string::npos);
    rc::check([&] {
        CommandLines lines;
        std::string onward;
        for (std::string_view rest = sent; !rest.empty();) {
            const auto part = *rc::gen::inRange<std::size_t>(1, rest.size() + 1);
            onward += lines.take(rest.substr(0, part));
            rest.remove_prefix(part);
        }
        RC_ASSERT(onward == whole);
    });
}

}  // namespace
}  // namespace s80::courier
