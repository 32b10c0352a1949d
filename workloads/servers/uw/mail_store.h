// SPDX-License-Identifier: GPL-2.0-or-later
// A user's mailboxes, through c-client: INBOX is the file HOME/inbox, the others are in HOME/mail, all in
// mbox format.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "callbacks.h"

namespace s80::uw {

/// The server refuses the command. The text goes into the tagged NO.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Initialises c-client for one user. Call it once per process.
void begin_mail(const std::string& user, const std::string& home);

/// Throws Refused for names that lead out of the user's folder or have another meaning in c-client.
void check_mailbox_name(const std::string& name);

// All throw Refused with c-client's reason.
std::vector<Listed> list_mailboxes(const std::string& reference, const std::string& pattern);
void create_mailbox(const std::string& name);
void delete_mailbox(const std::string& name);
void rename_mailbox(const std::string& from, const std::string& to);

/// Appends a message whose lines end with CRLF. `flags`: for example "(\Seen)". `date`: an internal date, or
/// empty.
void append_message(const std::string& mailbox, const std::string& flags, const std::string& date,
                    const std::string& message);

/// Waits until no delivery and no COPY has the mailbox open for writing. Does not wait for sessions.
void await_writers(const std::string& mailbox);

}  // namespace s80::uw
