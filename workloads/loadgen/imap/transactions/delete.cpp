// SPDX-License-Identifier: GPL-2.0-or-later
// DELT: delete a mailbox. Mailboxes that the workload created are deleted first, so that the mail store
// keeps its size. If there is none, any mailbox is deleted except the INBOX and the selected one.
#include <algorithm>

#include "imap/transactions.h"

namespace s80::loadgen {

namespace {

bool possible(ImapClient& client) {
    return client.mailboxes.size() > client.world.job.mailboxes_min && !client.mailboxes.movable().empty();
}

Task run(ImapClient& client) {
    std::vector<std::size_t> candidates = client.mailboxes.movable();
    const auto created = [&](std::size_t box) { return client.mailboxes[box].created; };
    const auto others = std::stable_partition(candidates.begin(), candidates.end(), created);
    if (others != candidates.begin()) {
        candidates.erase(others, candidates.end());
    }
    const std::size_t victim = candidates[client.random.below(candidates.size())];
    co_await client.imap.command("DELETE " + quoted(client.mailboxes[victim].name));
    client.mailboxes.remove(victim);
}

}  // namespace

const ImapTransaction delete_mailbox = {possible, run, {imap::CRTE, imap::SELT}};

}  // namespace s80::loadgen
