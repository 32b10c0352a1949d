// SPDX-License-Identifier: GPL-2.0-or-later
// toml++ with the sentence that a user gets when a file cannot be read.
#pragma once
#define TOML_EXCEPTIONS 1
#define TOML_HEADER_ONLY 0  // it takes seconds to compile: once, in toml.cpp

namespace s80::model {

/// The parser's own assertions fail for some malformed texts ("[." is one): that is the file's fault, and no
/// reason to abort, nor to go on.
struct TomlAssertion {};
constexpr void toml_assert(bool holds) {
    if (!holds) {
        throw TomlAssertion();
    }
}

}  // namespace s80::model

#pragma push_macro("NDEBUG")
#undef NDEBUG  // it would turn the assertions into assumptions
#define TOML_ASSERT(expression) ::s80::model::toml_assert(static_cast<bool>(expression))
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <string>
#include <string_view>

namespace s80::model {

toml::table parse_toml(const std::string& path);

/// The same of a text that is in memory; `where` names it.
toml::table parse_toml_text(std::string_view text, const std::string& where);

}  // namespace s80::model
