// SPDX-License-Identifier: GPL-2.0-or-later
// A user who checks mail from time to time. Each check is a session that retrieves new messages.
#pragma once

#include <optional>

#include "mail_client.h"
#include "pop3/session.h"

namespace s80::loadgen {

class Pop3Client final : public MailClient {
public:
    using MailClient::MailClient;

    // For the transactions:
    /// Whether there is mail, or some has been sent, that this user has not retrieved.
    bool awaits_mail() const { return world.accounts.inbox(account) > retrieved_; }
    /// A session that looks at the mailbox and optionally retrieves new messages.
    Task check_mail(bool retrieve);

private:
    Task log_in() override { return check_mail(false); }
    TransactionType allowed(TransactionType drawn) override;
    Task run(TransactionType type) override;
    void settle(bool failed) override;

    /// Checks that no message was lost, and that none has arrived that was not sent.
    void compare(unsigned messages);
    Task retrieve_new(Pop3Session& session);

    std::optional<unsigned> left_;  // messages in the mailbox as the last session left it
    unsigned retrieved_ = 0;        // of them, the first so many: what was stored before the load is new
};

}  // namespace s80::loadgen
