// SPDX-License-Identifier: GPL-2.0-or-later
// The accounts of the mail store, to which all mail is sent.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"

namespace s80::loadgen {

/// The accounts of the mail store: user001, user002 ... with the known size of each INBOX.
class Accounts {
public:
    explicit Accounts(unsigned users) : inbox_(users) {}

    std::size_t size() const { return inbox_.size(); }
    static std::string user(std::size_t index);
    /// The password of all accounts.
    static constexpr std::string_view kPassword = "secret";
    static std::string address(std::size_t index) { return user(index) + "@s80.example"; }
    unsigned& inbox(std::size_t index) { return inbox_[index]; }

    /// A random account whose INBOX has fewer than `limit` messages; size() if there is none.
    std::size_t recipient(Random& random, unsigned limit) const;

private:
    std::vector<unsigned> inbox_;
};

}  // namespace s80::loadgen
