// SPDX-License-Identifier: GPL-2.0-or-later
// The representation of values in IMAP replies.
#pragma once

#include <string>
#include <string_view>

#include "byte_stream.h"

namespace s80::uw {

/// A name as a quoted string, or as a literal if it cannot be quoted.
std::string as_string(std::string_view text);

/// Writes "{SIZE}", CRLF and the bytes, without copying them together first.
void write_literal(ByteStream& stream, std::string_view bytes);

/// One line of a reply's text. Control characters, which would end it, become spaces.
std::string as_text(std::string_view text);

}  // namespace s80::uw
