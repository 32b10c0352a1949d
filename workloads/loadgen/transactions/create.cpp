// SPDX-License-Identifier: GPL-2.0-or-later
// CRTE: create a mailbox.
#include "transaction.hpp"

namespace s80::loadgen {

namespace {

bool possible(Client& client) {
    return client.mailboxes.size() < client.world.job.mailboxes_max;
}

Task run(Client& client) {
    const std::string name = client.mailboxes.fresh_name(client.random, true);
    co_await client.imap.command("CREATE " + quoted(name));
    client.mailboxes.add(name);
}

}  // namespace

const Transaction create_mailbox = {possible, run, {TransactionType::DELT, TransactionType::SELT}};

}  // namespace s80::loadgen
