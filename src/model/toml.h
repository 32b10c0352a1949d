// SPDX-License-Identifier: GPL-2.0-or-later
// toml++ with the sentence that a user gets when a file cannot be read.
#pragma once
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "model/types.h"

namespace s80::model {

[[noreturn]] inline void fail_toml(const std::string& where, const toml::parse_error& e) {
    throw Error(where + ", line " + std::to_string(e.source().begin.line) + ": " +
                std::string(e.description()));
}

inline toml::table parse_toml(const std::string& path) {
    try {
        return toml::parse_file(path);
    } catch (const toml::parse_error& e) {
        fail_toml(path, e);
    }
}

/// The same of a text that is in memory; `where` names it.
inline toml::table parse_toml_text(std::string_view text, const std::string& where) {
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& e) {
        fail_toml(where, e);
    }
}

}  // namespace s80::model
