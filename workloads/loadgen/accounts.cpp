// SPDX-License-Identifier: GPL-2.0-or-later
#include "accounts.h"

#include <cstdio>

namespace s80::loadgen {

std::string Accounts::user(std::size_t index) {
    char name[32];
    std::snprintf(name, sizeof name, "user%03zu", index + 1);
    return name;
}

std::size_t Accounts::recipient(Random& random, unsigned limit) const {
    const std::size_t first = random.below(inbox_.size());
    for (std::size_t step = 0; step < inbox_.size(); ++step) {
        const std::size_t account = (first + step) % inbox_.size();
        if (inbox_[account] < limit) {
            return account;
        }
    }
    return inbox_.size();
}

}  // namespace s80::loadgen
