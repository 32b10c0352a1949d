// SPDX-License-Identifier: GPL-2.0-or-later
#include "accounts.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace s80::uw {

std::string home_by_pattern(std::string_view pattern, std::string_view user) {
    std::string home(pattern);
    for (std::size_t at = 0; (at = home.find("%u", at)) != std::string::npos; at += user.size()) {
        home.replace(at, 2, user);
    }
    return home;
}

bool is_user_name(std::string_view user) {
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    constexpr std::size_t kLongest = 64;
    return !user.empty() && user.size() <= kLongest && user.front() != '.' && user.front() != '-' &&
           user.find_first_not_of(kAllowed) == std::string_view::npos;
}

Accounts::Accounts(const std::string& file, std::string_view pattern) {
    std::ifstream lines(file);
    if (!lines) {
        throw std::runtime_error(file + ": " + std::strerror(errno));
    }
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.empty() || line.front() == '#') {
            continue;
        }
        const auto wrong = [&](const char* what) {
            return std::runtime_error(file + ", line " + std::to_string(number) + ": " + what);
        };
        const std::size_t first = line.find(':');
        const std::string user = line.substr(0, first);
        if (first == std::string::npos || !is_user_name(user)) {
            throw wrong("not user:password or user:password:home");
        }
        const std::size_t second = line.find(':', first + 1);
        Account& account = accounts_[user];
        account.password = line.substr(first + 1, second == std::string::npos ? second : second - first - 1);
        account.home = second == std::string::npos ? home_by_pattern(pattern, user) : line.substr(second + 1);
        if (!account.home.starts_with('/')) {
            throw wrong("the home is not an absolute path (give a third field or --mail)");
        }
    }
}

std::optional<std::string> Accounts::log_in(const std::string& user, std::string_view password) const {
    const auto found = accounts_.find(user);
    if (found == accounts_.end() || found->second.password != password) {
        return std::nullopt;
    }
    return found->second.home;
}

}  // namespace s80::uw
