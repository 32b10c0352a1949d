// SPDX-License-Identifier: GPL-2.0-or-later
// MDEL: mark a message as deleted and expunge it.
#include "expunging.hpp"
#include "transaction.hpp"

namespace s80::loadgen {

namespace {

bool possible(Client& client) {
    return client.imap.messages() > client.world.job.messages_min;
}

Task run(Client& client) {
    co_await mark_and_expunge(client, client.random_message());
}

}  // namespace

const Transaction delete_message = {possible, run, {TransactionType::COPY, TransactionType::SELT}};

}  // namespace s80::loadgen
