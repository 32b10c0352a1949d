// SPDX-License-Identifier: GPL-2.0-or-later
#include "transaction.hpp"

namespace s80::loadgen {

const Transaction& transaction(TransactionType type) {
    static constexpr std::array<const Transaction*, transaction_types> table = {
        &create_mailbox, &delete_mailbox, &rename_mailbox, &search_subject, &select_and_list,
        &copy_message,   &move_message,   &view_message,   &send_message,   &delete_message};
    return *table[index_of(type)];
}

TransactionType allowed(Client& client, TransactionType drawn) {
    if (transaction(drawn).possible(client)) return drawn;
    for (const TransactionType other : transaction(drawn).instead) {
        if (transaction(other).possible(client)) return other;
    }
    return TransactionType::SELT;
}

}  // namespace s80::loadgen
