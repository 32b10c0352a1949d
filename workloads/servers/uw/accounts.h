// SPDX-License-Identifier: GPL-2.0-or-later
// The users who may log in, and the folders of their mail. System accounts are not used.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace s80::uw {

/// `pattern` with each "%u" replaced by the user's name.
std::string home_by_pattern(std::string_view pattern, std::string_view user);

/// Whether a name can be part of a path: letters, digits, and . _ - (these not first).
bool is_user_name(std::string_view user);

class Accounts {
public:
    /// Reads lines "user:password" or "user:password:home". Empty lines and lines that begin with # are
    /// skipped. A user without a home has the one by `pattern`. Throws std::runtime_error with one sentence
    /// if the file cannot be read or a line is malformed.
    Accounts(const std::string& file, std::string_view pattern);

    /// The user's home if the password is right.
    std::optional<std::string> log_in(const std::string& user, std::string_view password) const;

private:
    struct Account {
        std::string password, home;
    };
    std::map<std::string, Account> accounts_;
};

}  // namespace s80::uw
