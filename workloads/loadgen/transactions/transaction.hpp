// SPDX-License-Identifier: GPL-2.0-or-later
// The contract of the ten transactions: whether a client can do it now, what it does, and what it
// does instead when a threshold forbids it.
#pragma once

#include <array>

#include "client.hpp"
#include "task.hpp"
#include "transaction_type.hpp"

namespace s80::loadgen {

struct Transaction {
    bool (*possible)(Client& client);
    Task (*run)(Client& client);
    /// Tried in turn when it is not possible; SELT always is.
    std::array<TransactionType, 2> instead;
};

const Transaction& transaction(TransactionType type);

/// The type that a client really does when `drawn` was drawn.
TransactionType allowed(Client& client, TransactionType drawn);

extern const Transaction create_mailbox, delete_mailbox, rename_mailbox, search_subject,
    select_and_list, copy_message, move_message, view_message, send_message, delete_message;

}  // namespace s80::loadgen
