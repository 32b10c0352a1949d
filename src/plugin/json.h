// SPDX-License-Identifier: GPL-2.0-or-later
// The little JSON that the plugin writes into its files.
#pragma once
#include <string>

namespace s80::plugin {

/// Processes may take any name.
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
