// SPDX-License-Identifier: GPL-2.0-or-later
// A user of an IMAP server, with one session that lasts as long as the load.
#pragma once

#include <string>
#include <string_view>

#include "imap/mailboxes.h"
#include "imap/session.h"
#include "mail_client.h"

namespace s80::loadgen {

class ImapClient final : public MailClient {
public:
    ImapClient(World& the_world, unsigned the_index)
        : MailClient(the_world, the_index), imap(the_world.network) {
        watch(imap);
    }

    // For the transactions:
    /// Selects a mailbox and notes how many messages it has.
    Task select(std::size_t mailbox);
    /// A random message of the selected mailbox, which must not be empty.
    unsigned random_message() { return 1 + static_cast<unsigned>(random.below(imap.messages())); }
    /// Takes a search word from a message's header, and remembers the message.
    void learn_subject(unsigned message, std::string_view header);

    ImapSession imap;
    Mailboxes mailboxes;
    std::string subject_word;  // in the subject of the message imap.remembered

private:
    /// Logs in and selects a first mailbox.
    Task log_in() override;
    void take_up_job() override;
    TransactionType allowed(TransactionType drawn) override;
    Task run(TransactionType type) override;
    void settle(bool /*failed*/) override { note_messages(); }
    Traffic lasting() const override { return imap.traffic(); }

    /// Takes over the session's data about the selected mailbox.
    void note_messages();
};

}  // namespace s80::loadgen
