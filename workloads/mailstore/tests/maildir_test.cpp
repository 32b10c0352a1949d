// SPDX-License-Identifier: GPL-2.0-or-later
#include "maildir.hpp"

#include <gtest/gtest.h>

namespace s80::mailstore {
namespace {

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

}  // namespace
}  // namespace s80::mailstore
