// SPDX-License-Identifier: GPL-2.0-or-later
// Writes JSON.
#pragma once
#include <string>
#include <string_view>

namespace s80::model {

/// The text as a JSON string, with escapes. A byte that is not printable ASCII becomes `?`, because the guest
/// may give a process any name.
inline std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
        }
        out += c >= ' ' && c <= '~' ? c : '?';
    }
    return out + '"';
}

/// A JSON array. `element`: converts an item to JSON; without it, items are names and are quoted. `between`:
/// text between two items.
template <class List, class Element = std::string (*)(std::string_view)>
std::string array(const List& list, Element element = quoted, std::string_view between = ",") {
    std::string out = "[";
    for (const auto& item : list) {
        out += out.size() > 1 ? between : "";
        out += element(item);
    }
    return out + ']';
}

}  // namespace s80::model
