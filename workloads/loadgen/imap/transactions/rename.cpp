// SPDX-License-Identifier: GPL-2.0-or-later
// RENM: rename a mailbox, except the INBOX and the selected one.
#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

bool possible(ImapClient& client) {
    return !client.mailboxes.movable().empty();
}

Task run(ImapClient& client) {
    const std::vector<std::size_t> candidates = client.mailboxes.movable();
    Mailbox& mailbox = client.mailboxes[candidates[client.random.below(candidates.size())]];
    std::string name = client.mailboxes.fresh_name(client.random, mailbox.created);
    co_await client.imap.command("RENAME " + quoted(mailbox.name) + " " + quoted(name));
    mailbox.name = std::move(name);
}

}  // namespace

const ImapTransaction rename_mailbox = {possible, run, {imap::CRTE, imap::SELT}};

}  // namespace s80::loadgen
