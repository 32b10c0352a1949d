// SPDX-License-Identifier: GPL-2.0-or-later
#define TOML_IMPLEMENTATION
#include "base/toml.h"

#include "base/types.h"

namespace s80::model {

namespace {

/// Calls `parse` and returns its result. Converts parse errors to an Error with a sentence for the user.
template <class Parse>
toml::table parsed(const std::string& where, Parse parse) {
    try {
        return parse();
    } catch (const toml::parse_error& e) {
        throw Error(where + ", line " + std::to_string(e.source().begin.line) + ": " +
                    std::string(e.description()));
    } catch (const TomlAssertion&) {
        throw Error(where +
                    ": is not TOML; check for a table or key whose name begins with an unusual character");
    }
}

}  // namespace

toml::table parse_toml(const std::string& path) {
    return parsed(path, [&] { return toml::parse_file(path); });
}

toml::table parse_toml_text(std::string_view text, const std::string& where) {
    return parsed(where, [&] { return toml::parse(text); });
}

}  // namespace s80::model
