// SPDX-License-Identifier: GPL-2.0-or-later
// A user who looks for mail now and then: a session of its own each time, in which what has come is
// retrieved.
#pragma once

#include <optional>

#include "mail_client.hpp"
#include "pop3/session.hpp"

namespace s80::loadgen {

class Pop3Client final : public MailClient {
public:
    using MailClient::MailClient;

    // For the transactions:
    /// Whether mail has been sent to this user that it has not retrieved.
    bool awaits_mail() const { return world.accounts.inbox(account) > known_.value_or(0); }
    /// A session that looks at what there is and, perhaps, retrieves what is new.
    Task check_mail(bool retrieve);

private:
    Task log_in() override { return check_mail(false); }
    TransactionType allowed(TransactionType drawn) override;
    Task run(TransactionType type) override;
    void settle(bool failed) override;

    /// Nothing was lost, and nothing has come that was not sent.
    void compare(unsigned messages);
    Task retrieve_new(Pop3Session& session);

    std::optional<unsigned> known_;  // messages that there are and were looked at, none of them new
};

}  // namespace s80::loadgen
