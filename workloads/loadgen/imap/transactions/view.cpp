// SPDX-License-Identifier: GPL-2.0-or-later
// VIEW: fetch the entire body of a message.
#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

bool possible(ImapClient& client) {
    return client.imap.messages() > 0;
}

Task run(ImapClient& client) {
    const unsigned number = client.random_message();
    const std::string message = std::to_string(number);
    client.imap.want(number);
    co_await client.imap.command("FETCH " + message + " BODY[]");
    if (client.imap.reply().wanted.text_bytes == 0) {
        throw Failure(ErrorKind::missing, "FETCH " + message + " BODY[] of " +
                                              client.mailboxes.selected().name + " brought nothing");
    }
}

}  // namespace

const ImapTransaction view_message = {possible, run, {imap::SELT, imap::SELT}};

}  // namespace s80::loadgen
