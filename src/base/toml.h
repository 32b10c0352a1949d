// SPDX-License-Identifier: GPL-2.0-or-later
// Includes toml++, and converts its parse errors to messages for the user.
#pragma once
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 0  // toml.cpp alone compiles the library, because that takes seconds

namespace s80::model {

/// Replaces the assertions of toml++. Some malformed texts violate them, for example "[.": this is an error
/// of the file, so the program must neither abort nor continue.
struct TomlAssertion {};
constexpr void toml_assert(bool holds) {
    if (!holds) {
        throw TomlAssertion();
    }
}

}  // namespace s80::model

#pragma push_macro("NDEBUG")
#undef NDEBUG  // with NDEBUG, toml++ would assume that its assertions hold
#define TOML_ASSERT(expression) ::s80::model::toml_assert(static_cast<bool>(expression))
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <string>
#include <string_view>

namespace s80::model {

toml::table parse_toml(const std::string& path);

/// Parses a text in memory. `where`: name of the text, for messages.
toml::table parse_toml_text(std::string_view text, const std::string& where);

}  // namespace s80::model
