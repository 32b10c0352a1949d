// SPDX-License-Identifier: GPL-2.0-or-later
// SELT: select a random mailbox of the user and fetch the header of every message in it.
#include "transaction.hpp"

namespace s80::loadgen {

namespace {

bool possible(Client&) {
    return true;
}

Task run(Client& client) {
    co_await client.select(client.random.below(client.mailboxes.size()));
    const unsigned messages = client.imap.messages();
    if (messages == 0) co_return;
    const unsigned chosen = client.random_message();
    client.imap.want(chosen);
    co_await client.imap.command("FETCH 1:* (UID FLAGS BODY.PEEK[HEADER])");
    if (client.imap.reply().fetched < messages) {
        throw Failure(ErrorKind::missing, "FETCH of the headers of " + client.mailboxes.selected().name +
                                              " brought " + std::to_string(client.imap.reply().fetched) +
                                              " of " + std::to_string(messages));
    }
    client.learn_subject(chosen, client.imap.reply().captured);
}

}  // namespace

const Transaction select_and_list = {possible, run, {TransactionType::SELT, TransactionType::SELT}};

}  // namespace s80::loadgen
