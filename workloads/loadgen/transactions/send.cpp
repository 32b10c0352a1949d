// SPDX-License-Identifier: GPL-2.0-or-later
// SEND: send a message to a random local user through the mail transfer agent.
#include "smtp_session.hpp"
#include "transaction.hpp"

namespace s80::loadgen {

namespace {

bool possible(Client& client) {
    Random look_ahead = client.random;  // asking must not change what is drawn
    const Accounts& accounts = client.world.accounts;
    return accounts.recipient(look_ahead, client.world.job.messages_max) < accounts.size();
}

Task run(Client& client) {
    World& world = client.world;
    const std::size_t recipient = world.accounts.recipient(client.random, world.job.messages_max);
    Envelope envelope{Accounts::address(client.account), Accounts::address(recipient), {}};
    envelope.message =
        world.text.compose(client.random, envelope.from, envelope.to, draw_message_size(client.random));
    SmtpSession smtp(world.network);
    co_await smtp.deliver(world.servers.next_smtp(), envelope);
    client.smtp_bytes_in += smtp.bytes_in();
    client.smtp_bytes_out += smtp.bytes_out();
    ++world.accounts.inbox(recipient);
}

}  // namespace

const Transaction send_message = {possible, run, {TransactionType::MDEL, TransactionType::SELT}};

}  // namespace s80::loadgen
