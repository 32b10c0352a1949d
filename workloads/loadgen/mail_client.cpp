// SPDX-License-Identifier: GPL-2.0-or-later
#include "mail_client.h"

#include "accounts.h"
#include "message_text.h"
#include "smtp_session.h"

namespace s80::loadgen {

bool MailClient::can_send() const {
    Random look_ahead = random;  // asking must not change what is drawn
    return world.accounts.recipient(look_ahead, world.job.messages_max) < world.accounts.size();
}

Task MailClient::send_message() {
    const std::size_t recipient = world.accounts.recipient(random, world.job.messages_max);
    Envelope envelope{Accounts::address(account), Accounts::address(recipient), {}};
    const std::size_t size = message_size(world.deal->amount(drawn_));
    envelope.message = world.text.compose(random, envelope.from, envelope.to, size);
    ++world.accounts.inbox(recipient);  // it may be there before this client hears so
    SmtpSession smtp(world.network);
    co_await smtp.deliver(world.servers.next_smtp(), envelope);
    done_with(smtp);
}

std::string MailClient::name() const {
    return Client::name() + " (" + Accounts::user(account) + ")";
}

}  // namespace s80::loadgen
