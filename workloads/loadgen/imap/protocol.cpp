// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol.h"

#include <array>

#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

constexpr std::array<std::string_view, 10> kNames = {"CRTE", "DELT", "RENM", "SRCH", "SELT",
                                                     "COPY", "MOVE", "VIEW", "SEND", "MDEL"};
constexpr Transactions<ImapClient, kNames.size()> kTransactions = {
    &create_mailbox, &delete_mailbox, &rename_mailbox, &search_subject, &select_and_list,
    &copy_message,   &move_message,   &view_message,   &send_message,   &delete_message};

}  // namespace

const Protocol imap_protocol = {"imap", "127.0.0.1:993", kNames,
                                [](World& world, unsigned index) -> std::unique_ptr<Client> {
                                    return std::make_unique<ImapClient>(world, index);
                                },
                                "127.0.0.1:143"};

TransactionType ImapClient::allowed(TransactionType drawn) {
    return loadgen::allowed(kTransactions, *this, drawn);
}

Task ImapClient::run(TransactionType type) {
    return kTransactions[type]->run(*this);
}

}  // namespace s80::loadgen
