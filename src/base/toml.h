// SPDX-License-Identifier: GPL-2.0-or-later
// Includes toml++ and turns its parse errors into messages for the user.
#pragma once
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 0  // compiled once, in toml.cpp, because it takes seconds

namespace s80::model {

/// toml++'s own assertions fail for some malformed texts, for example "[.". Such a text is an error of the
/// file: the program must neither abort nor continue.
struct TomlAssertion {};
constexpr void toml_assert(bool holds) {
    if (!holds) {
        throw TomlAssertion();
    }
}

}  // namespace s80::model

#pragma push_macro("NDEBUG")
#undef NDEBUG  // with NDEBUG, toml++ would take the assertions for true
#define TOML_ASSERT(expression) ::s80::model::toml_assert(static_cast<bool>(expression))
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <string>
#include <string_view>

namespace s80::model {

toml::table parse_toml(const std::string& path);

/// Parses text in memory; `where` names the text in messages.
toml::table parse_toml_text(std::string_view text, const std::string& where);

}  // namespace s80::model
