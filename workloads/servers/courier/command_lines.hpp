// SPDX-License-Identifier: GPL-2.0-or-later
// What an IMAP client sends, with each mailbox name put below INBOX.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace s80::courier {

/// One line of a command as it is to go on: a mailbox name (quoted, or an atom) that is neither INBOX nor
/// below it gets "INBOX." before it. A name that is a literal, and what is no command with a mailbox name,
/// stay as they are.
std::string below_inbox(std::string_view line);

/// Cuts a stream of bytes into lines and literals, however it comes in pieces; literals pass unchanged.
class CommandLines {
public:
    /// The next bytes of the client; returns what is to go on, whole lines only.
    std::string take(std::string_view bytes);

private:
    std::string line_;         // begun and not ended
    std::size_t literal_ = 0;  // bytes of one that are to come
};

}  // namespace s80::courier
