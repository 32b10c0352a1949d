// SPDX-License-Identifier: GPL-2.0-or-later
// Prepared lines from which message bodies are copied. Composing each body word by word would cost the guest
// hundreds of instructions per line; a slice of the pool costs one memcpy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"

namespace s80::mailstore {

/// Complete lines, one after the other.
class TextPool {
public:
    /// English-like paragraphs in lines of at most 78 characters (RFC 5322). A line that begins with "From "
    /// is quoted as ">From ".
    static TextPool prose(Random& random, std::size_t bytes);
    /// Base64 of random bytes, in lines of 76 characters (RFC 2045).
    static TextPool base64(Random& random, std::size_t bytes);

    /// Appends a slice of complete lines to `out`, as many as fit into `bytes`. It begins at a random line
    /// and wraps around.
    void append(std::string& out, std::size_t bytes, Random& random) const;

    std::string_view text() const { return text_; }

private:
    void add_line(std::string_view line);
    /// Index of the last line that begins at or before byte `at`.
    std::size_t line_at(std::size_t at) const;

    std::string text_;
    std::vector<std::uint32_t> starts_;  // of each line, and the end of the text
};

/// Words for subjects and prose.
std::string_view word(Random& random);
/// Given names and family names, for addresses.
std::string_view given_name(Random& random);
std::string_view family_name(Random& random);

}  // namespace s80::mailstore
