// SPDX-License-Identifier: GPL-2.0-or-later
// COPY: copy a message from the selected mailbox to another one.
#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

bool possible(ImapClient& client) {
    return client.imap.messages() > 0 && !client.mailboxes.targets(client.world.job.messages_max).empty();
}

Task run(ImapClient& client) {
    const std::vector<std::size_t> targets = client.mailboxes.targets(client.world.job.messages_max);
    Mailbox& target = client.mailboxes[targets[client.random.below(targets.size())]];
    const std::string message = std::to_string(client.random_message());
    co_await client.imap.command("COPY " + message + " " + quoted(target.name));
    ++target.messages;
}

}  // namespace

const ImapTransaction copy_message = {possible, run, {imap::MDEL, imap::SELT}};

}  // namespace s80::loadgen
