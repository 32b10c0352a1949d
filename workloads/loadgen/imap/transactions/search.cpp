// SPDX-License-Identifier: GPL-2.0-or-later
// SRCH: search the selected mailbox by subject. The word is from the subject of a message that the client
// has seen, so the message must be in the result while it exists.
#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

bool possible(ImapClient& client) {
    return client.imap.messages() > 0;
}

Task run(ImapClient& client) {
    client.imap.want(client.imap.remembered);
    co_await client.imap.command("SEARCH SUBJECT " + quoted(client.subject_word));
    if (client.imap.remembered != 0 && !client.imap.reply().found) {
        throw Failure(ErrorKind::missing, "SEARCH SUBJECT " + client.subject_word + " did not find message " +
                                              std::to_string(client.imap.remembered) + " of " +
                                              client.mailboxes.selected().name);
    }
}

}  // namespace

const ImapTransaction search_subject = {possible, run, {imap::SELT, imap::SELT}};

}  // namespace s80::loadgen
