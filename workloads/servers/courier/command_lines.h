// SPDX-License-Identifier: GPL-2.0-or-later
// An IMAP client's commands, with each mailbox name moved below INBOX.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace s80::courier {

/// One line of a command, converted. A mailbox name (quoted, or an atom) that is neither INBOX nor below it
/// gets the prefix "INBOX.". Names that are literals, and commands without a mailbox name, stay unchanged.
std::string below_inbox(std::string_view line);

/// Splits a stream of bytes into lines and literals, independent of how the bytes arrive. Literals pass
/// unchanged.
class CommandLines {
public:
    /// Takes the next bytes of the client. Returns the converted output, in complete lines only.
    std::string take(std::string_view bytes);

private:
    std::string line_;         // begun and not ended
    std::size_t literal_ = 0;  // bytes of one that are to come
};

}  // namespace s80::courier
