// SPDX-License-Identifier: GPL-2.0-or-later
// SELT: select a random mailbox of the user and fetch the header of every message in it: with one FETCH, or
// with a series of FETCHes, which is the other possible reading of the paper.
#include <algorithm>
#include <string>

#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

/// So many messages, but no further than the last; 0: all there are by then.
std::string range(unsigned from, unsigned count, unsigned last) {
    if (count == 0) {
        return "1:*";
    }
    if (count == 1) {
        return std::to_string(from);
    }
    return std::to_string(from) + ":" + std::to_string(std::min(last, from + count - 1));
}

bool possible(ImapClient&) {
    return true;
}

Task run(ImapClient& client) {
    co_await client.select(client.random.below(client.mailboxes.size()));
    const unsigned messages = client.imap.messages();
    if (messages == 0) {
        co_return;
    }
    const unsigned chosen = client.random_message();
    const unsigned at_once = std::min(client.world.job.header_fetch, messages);
    unsigned fetched = 0;
    std::string header;
    client.imap.want(chosen);
    for (unsigned from = 1; from <= messages; from += at_once) {
        co_await client.imap.command("FETCH " + range(from, at_once, messages) +
                                     " (UID FLAGS BODY.PEEK[HEADER])");
        fetched += client.imap.reply().fetched;
        header += client.imap.reply().captured;
        if (at_once == 0) {
            break;
        }
    }
    if (fetched < messages) {
        throw Failure(ErrorKind::missing, "FETCH of the headers of " + client.mailboxes.selected().name +
                                              " brought " + std::to_string(fetched) + " of " +
                                              std::to_string(messages));
    }
    client.learn_subject(chosen, header);
}

}  // namespace

const ImapTransaction select_and_list = {possible, run, {imap::SELT, imap::SELT}};

}  // namespace s80::loadgen
