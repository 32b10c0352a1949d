// SPDX-License-Identifier: GPL-2.0-or-later
// toml++ with the sentence that a user gets when a file cannot be read.
#pragma once
#define TOML_EXCEPTIONS 1

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

#include "model/types.h"

namespace s80::model {

[[noreturn]] inline void fail_toml(const std::string& where, const toml::parse_error& e) {
    throw Error(where + ", line " + std::to_string(e.source().begin.line) + ": " +
                std::string(e.description()));
}

[[noreturn]] inline void fail_toml(const std::string& where) {
    throw Error(where +
                ": it is not TOML; look for a table or a key whose name begins with an odd character");
}

inline toml::table parse_toml(const std::string& path) {
    try {
        return toml::parse_file(path);
    } catch (const toml::parse_error& e) {
        fail_toml(path, e);
    } catch (const TomlAssertion&) {
        fail_toml(path);
    }
}

/// The same of a text that is in memory; `where` names it.
inline toml::table parse_toml_text(std::string_view text, const std::string& where) {
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& e) {
        fail_toml(where, e);
    } catch (const TomlAssertion&) {
        fail_toml(where);
    }
}

}  // namespace s80::model
