// SPDX-License-Identifier: GPL-2.0-or-later
// How values are written in IMAP.
#pragma once

#include <string>
#include <string_view>

#include "byte_stream.hpp"

namespace s80::uw {

/// A name as a quoted string, or as a literal where it cannot be quoted.
std::string as_string(std::string_view text);

/// "{SIZE}", CRLF and the bytes, which are not copied together first.
void write_literal(ByteStream& stream, std::string_view bytes);

/// One line of a reply's text: control characters, which would end it, become spaces.
std::string as_text(std::string_view text);

}  // namespace s80::uw
