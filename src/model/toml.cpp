// SPDX-License-Identifier: GPL-2.0-or-later
#define TOML_IMPLEMENTATION
#include "model/toml.h"

#include "model/types.h"

namespace s80::model {

namespace {

[[noreturn]] void fail_toml(const std::string& where, const toml::parse_error& e) {
    throw Error(where + ", line " + std::to_string(e.source().begin.line) + ": " +
                std::string(e.description()));
}

[[noreturn]] void fail_toml(const std::string& where) {
    throw Error(where +
                ": it is not TOML; look for a table or a key whose name begins with an odd character");
}

}  // namespace

toml::table parse_toml(const std::string& path) {
    try {
        return toml::parse_file(path);
    } catch (const toml::parse_error& e) {
        fail_toml(path, e);
    } catch (const TomlAssertion&) {
        fail_toml(path);
    }
}

toml::table parse_toml_text(std::string_view text, const std::string& where) {
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& e) {
        fail_toml(where, e);
    } catch (const TomlAssertion&) {
        fail_toml(where);
    }
}

}  // namespace s80::model
