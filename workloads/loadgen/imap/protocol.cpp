// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol.hpp"

#include <array>

#include "imap/transactions.hpp"

namespace s80::loadgen {

namespace {

constexpr std::array<std::string_view, 10> names = {"CRTE", "DELT", "RENM", "SRCH", "SELT",
                                                    "COPY", "MOVE", "VIEW", "SEND", "MDEL"};
constexpr Transactions<ImapClient, names.size()> transactions = {
    &create_mailbox, &delete_mailbox, &rename_mailbox, &search_subject, &select_and_list,
    &copy_message,   &move_message,   &view_message,   &send_message,   &delete_message};

}  // namespace

const Protocol imap_protocol = {"imap", "127.0.0.1:993", names,
                                [](World& world, unsigned index) -> std::unique_ptr<Client> {
                                    return std::make_unique<ImapClient>(world, index);
                                },
                                "127.0.0.1:143"};

TransactionType ImapClient::allowed(TransactionType drawn) {
    return loadgen::allowed(transactions, *this, drawn);
}

Task ImapClient::run(TransactionType type) {
    return transactions[type]->run(*this);
}

}  // namespace s80::loadgen
