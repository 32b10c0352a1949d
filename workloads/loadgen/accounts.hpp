// SPDX-License-Identifier: GPL-2.0-or-later
// The accounts of the mail store, which all mail is sent to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "random.hpp"

namespace s80::loadgen {

/// The mail store's accounts: user001, user002 ... with the size of each INBOX as far as seen.
class Accounts {
public:
    explicit Accounts(unsigned users) : inbox_(users) {}

    std::size_t size() const { return inbox_.size(); }
    static std::string user(std::size_t index);
    /// Everybody's.
    static constexpr std::string_view password = "secret";
    static std::string address(std::size_t index) { return user(index) + "@s80.example"; }
    unsigned& inbox(std::size_t index) { return inbox_[index]; }

    /// A random account whose INBOX has fewer than `limit` messages; size() when there is none.
    std::size_t recipient(Random& random, unsigned limit) const;

private:
    std::vector<unsigned> inbox_;
};

}  // namespace s80::loadgen
