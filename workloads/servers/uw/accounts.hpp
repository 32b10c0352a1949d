// SPDX-License-Identifier: GPL-2.0-or-later
// Who may log in, and where the mail of each user lies. System accounts play no part.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace s80::uw {

/// `pattern` with each "%u" replaced by the user's name.
std::string home_by_pattern(std::string_view pattern, std::string_view user);

/// A name that can stand in a path: letters, digits, and . _ - but not first.
bool is_user_name(std::string_view user);

class Accounts {
public:
    /// Reads lines "user:password" or "user:password:home"; empty ones and those that begin with # are
    /// skipped. Without a home of its own a user has the one by `pattern`. Throws std::runtime_error, one
    /// sentence, for a file that cannot be read or a line that is neither.
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
