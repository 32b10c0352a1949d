// SPDX-License-Identifier: GPL-2.0-or-later
// Parses options of the form "--name value".
#pragma once

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace s80::uw {

/// The command line is wrong.
struct WrongUsage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Options {
    std::map<std::string, std::string> values;  // without the dashes
    std::vector<std::string> words;             // what is no option

    const std::string& need(const std::string& name) const;
    std::string get(const std::string& name) const;
    /// The number of a user, below 2^32 - 1.
    std::optional<unsigned> user_id(const std::string& name) const;
};

/// Throws WrongUsage for options that are not `known`.
Options parse_options(std::span<char* const> arguments, const std::vector<std::string>& known);

/// Permanently changes user and group to this number; does nothing without one.
void become(std::optional<unsigned> user);

}  // namespace s80::uw
