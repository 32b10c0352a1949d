// SPDX-License-Identifier: GPL-2.0-or-later
// SEND: send a message to a random local user through the mail transfer agent.
#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

bool possible(ImapClient& client) {
    return client.can_send();
}

Task run(ImapClient& client) {
    return client.send_message();
}

}  // namespace

const ImapTransaction send_message = {possible, run, {imap::MDEL, imap::SELT}};

}  // namespace s80::loadgen
