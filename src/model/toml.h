// SPDX-License-Identifier: GPL-2.0-or-later
// toml++ with the sentence that a user gets when a file cannot be read.
#pragma once
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <string>

#include "model/types.h"

namespace s80::model {

inline toml::table parse_toml(const std::string& path) {
    try {
        return toml::parse_file(path);
    } catch (const toml::parse_error& e) {
        throw Error(path + ", line " + std::to_string(e.source().begin.line) + ": " +
                    std::string(e.description()));
    }
}

}  // namespace s80::model
