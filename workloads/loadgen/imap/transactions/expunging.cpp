// SPDX-License-Identifier: GPL-2.0-or-later
#include "imap/transactions.h"

#include <string>

namespace s80::loadgen {

Task mark_and_expunge(ImapClient& client, unsigned message) {
    constexpr int kAttempts = 2;
    const std::string store = "STORE " + std::to_string(message) + " +FLAGS (\\Deleted)";
    client.imap.want(message);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        co_await client.imap.command(store);
        if (client.imap.reply().wanted.deleted) {
            co_await client.imap.command("EXPUNGE");
            if (client.imap.reply().expunged > 0) {
                co_return;
            }
        }
        client.world.statistics.lost_flag();
    }
    throw Failure(ErrorKind::missing,
                  store + " and EXPUNGE did not remove the message from " + client.mailboxes.selected().name);
}

}  // namespace s80::loadgen
