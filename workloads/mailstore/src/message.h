// SPDX-License-Identifier: GPL-2.0-or-later
// One message as it lies in an mbox file (RFC 4155): From_ line, header, MIME body, empty line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "random.h"
#include "text_pool.h"

namespace s80::mailstore {

/// Where the bodies come from.
struct Pools {
    TextPool prose;
    TextPool base64;
};

/// Place of a message in its mailbox.
struct Position {
    std::string_view user;       // account name of the receiver
    std::int64_t time;           // of delivery, seconds since 1970 (UTC)
    std::uint32_t uid;           // IMAP UID, from 1
    std::uint32_t last_uid;      // of the mailbox
    std::uint32_t uid_validity;  // of the mailbox
};

/// Appends a message of about `bytes` bytes to `out`. Up to 3 KB it is plain text, up to 16 KB text and HTML
/// (multipart/alternative), above that text with a base64 attachment (multipart/mixed).
void append_message(std::string& out, std::size_t bytes, const Position& position, const Pools& pools,
                    Random& random);

}  // namespace s80::mailstore
