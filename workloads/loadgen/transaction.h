// SPDX-License-Identifier: GPL-2.0-or-later
// The contract of a transaction: whether a client can do it now, what it does, and what it does instead
// when it cannot.
#pragma once

#include <array>
#include <cstddef>

#include "task.h"
#include "transaction_type.h"

namespace s80::loadgen {

/// `Of` is the client of the protocol.
template <typename Of>
struct Transaction {
    bool (*possible)(Of& client);
    Task (*run)(Of& client);
    /// The first is tried when it is not possible; the second always is.
    std::array<TransactionType, 2> instead;
};

/// In the order of the protocol's names.
template <typename Of, std::size_t types>
using Transactions = std::array<const Transaction<Of>*, types>;

/// The type that a client really does when `drawn` was drawn.
template <typename Of, std::size_t types>
TransactionType allowed(const Transactions<Of, types>& table, Of& client, TransactionType drawn) {
    if (table[drawn]->possible(client)) {
        return drawn;
    }
    const auto [other, always] = table[drawn]->instead;
    return table[other]->possible(client) ? other : always;
}

}  // namespace s80::loadgen
