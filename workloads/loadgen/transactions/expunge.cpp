// SPDX-License-Identifier: GPL-2.0-or-later
// MDEL: mark a message as deleted and expunge it.
#include "transaction.hpp"

namespace s80::loadgen {

namespace {

bool possible(Client& client) { return client.imap.messages() > client.world.job.messages_min; }

Task run(Client& client) {
    const std::string message = std::to_string(client.random_message());
    co_await client.imap.command("STORE " + message + " +FLAGS (\\Deleted)");
    if (client.imap.reply().deleted_flags == 0) {
        throw Failure(ErrorKind::missing, "STORE did not mark message " + message + " of " +
                                              client.mailboxes.selected().name);
    }
    co_await client.imap.command("EXPUNGE");
    if (client.imap.reply().expunged == 0) {
        throw Failure(ErrorKind::missing, "EXPUNGE did not remove message " + message + " of " +
                                              client.mailboxes.selected().name);
    }
}

}  // namespace

const Transaction delete_message = {possible, run, {TransactionType::COPY, TransactionType::SELT}};

}  // namespace s80::loadgen
