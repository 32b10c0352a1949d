// SPDX-License-Identifier: GPL-2.0-or-later
// What a client would send to bring a user's mail to any IMAP server (RFC 3501, LITERAL+ and MULTIAPPEND):
// for servers whose store nobody else can write.
#pragma once

#include <string>
#include <string_view>

#include "message.h"

namespace s80::mailstore {

class ImapScript {
public:
    /// Begins with a log-in.
    ImapScript(std::string_view user, std::string_view password);

    /// What follows is this mailbox's mail; INBOX is there already.
    void mailbox(std::string_view name);
    /// The next message of the mailbox, as append_message() made it: with its flag and its time.
    void message(std::string_view mbox_message, const Position& position);
    /// The whole script, with a log-out.
    std::string finish();

private:
    void command(std::string_view text);

    std::string text_;
    unsigned tag_ = 0;
};

}  // namespace s80::mailstore
