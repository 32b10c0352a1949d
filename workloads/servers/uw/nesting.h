// SPDX-License-Identifier: GPL-2.0-or-later
// Nested comments in header fields. c-client parses them with one recursion per level.
#pragma once

#include <cstddef>
#include <string_view>

namespace s80::uw {

/// The largest number of levels that c-client may parse. Each level takes 1.1 KB of a stack of 8 MiB.
constexpr std::size_t kDeepestComment = 4096;

/// Whether a header field in `text` may have comments nested deeper than `kDeepestComment`. A field ends at a
/// line break without a space or tab behind it. Brackets in quoted strings count, too.
bool nests_too_deeply(std::string_view text);

}  // namespace s80::uw
