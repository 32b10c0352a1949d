// SPDX-License-Identifier: GPL-2.0-or-later
// MOVE: move a message from the selected mailbox to another one, by the MOVE command or, as in the
// paper's time, by COPY, STORE and EXPUNGE.
#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

bool possible(ImapClient& client) {
    return client.imap.messages() > client.world.job.messages_min &&
           !client.mailboxes.targets(client.world.job.messages_max).empty();
}

bool by_command(const ImapClient& client) {
    return client.world.job.move != MoveMode::copy && client.imap.has_move();
}

Task run(ImapClient& client) {
    const std::vector<std::size_t> targets = client.mailboxes.targets(client.world.job.messages_max);
    Mailbox& target = client.mailboxes[targets[client.random.below(targets.size())]];
    const unsigned message = client.random_message();
    const std::string to = std::to_string(message) + " " + quoted(target.name);
    if (by_command(client)) {
        co_await client.imap.command("MOVE " + to);
        if (client.imap.reply().expunged == 0) {
            throw Failure(ErrorKind::missing, "MOVE left the message in " + client.mailboxes.selected().name);
        }
    } else {
        co_await client.imap.command("COPY " + to);
        co_await mark_and_expunge(client, message);
    }
    ++target.messages;
}

}  // namespace

const ImapTransaction move_message = {possible, run, {imap::COPY, imap::SELT}};

}  // namespace s80::loadgen
