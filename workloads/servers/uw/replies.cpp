// SPDX-License-Identifier: GPL-2.0-or-later
#include "replies.h"

#include <algorithm>

namespace s80::uw {

std::string as_string(std::string_view text) {
    const auto quotable = [](char c) { return static_cast<signed char>(c) >= 0x20 && c != 0x7f; };
    if (!std::all_of(text.begin(), text.end(), quotable)) {
        return "{" + std::to_string(text.size()) + "}\r\n" + std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
        }
        quoted += c;
    }
    return quoted + '"';
}

void write_literal(ByteStream& stream, std::string_view bytes) {
    stream.write("{" + std::to_string(bytes.size()) + "}\r\n");
    stream.write(bytes);
}

std::string as_text(std::string_view text) {
    std::string line(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return line;
}

}  // namespace s80::uw
