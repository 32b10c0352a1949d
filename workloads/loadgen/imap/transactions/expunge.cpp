// SPDX-License-Identifier: GPL-2.0-or-later
// MDEL: mark a message as deleted and expunge it.
#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

bool possible(ImapClient& client) {
    return client.imap.messages() > client.world.job.messages_min;
}

Task run(ImapClient& client) {
    co_await mark_and_expunge(client, client.random_message());
}

}  // namespace

const ImapTransaction delete_message = {possible, run, {imap::COPY, imap::SELT}};

}  // namespace s80::loadgen
