// SPDX-License-Identifier: GPL-2.0-or-later
// JSON output for the plugin's files.
#pragma once
#include <string>

namespace s80::plugin {

/// Quotes and escapes a text. Processes may have any name.
inline std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += c >= ' ' && c <= '~' ? c : '?';
    }
    return out + '"';
}

/// A list of names.
template <class List>
std::string array(const List& list) {
    std::string out = "[";
    for (const char* const item : list) {
        out += out.size() > 1 ? "," : "";
        out += quoted(item);
    }
    return out + ']';
}

}  // namespace s80::plugin
