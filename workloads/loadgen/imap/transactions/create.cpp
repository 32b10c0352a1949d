// SPDX-License-Identifier: GPL-2.0-or-later
// CRTE: create a mailbox.
#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

bool possible(ImapClient& client) {
    return client.mailboxes.size() < client.world.job.mailboxes_max;
}

Task run(ImapClient& client) {
    const std::string name = client.mailboxes.fresh_name(client.random, true);
    co_await client.imap.command("CREATE " + quoted(name));
    client.mailboxes.add(name);
}

}  // namespace

const ImapTransaction create_mailbox = {possible, run, {imap::DELT, imap::SELT}};

}  // namespace s80::loadgen
