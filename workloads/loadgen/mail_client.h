// SPDX-License-Identifier: GPL-2.0-or-later
// A user of a mail server, who has an account and sends mail to other accounts.
#pragma once

#include <string>

#include "client.h"

namespace s80::loadgen {

class MailClient : public Client {
public:
    MailClient(World& the_world, unsigned the_index)
        : Client(the_world, the_index), account(the_index % the_world.accounts.size()) {}

    /// Whether some account can take another message.
    bool can_send() const;
    /// Sends a message to a random account through the mail transfer agent.
    Task send_message();

    const std::size_t account;

protected:
    std::string name() const override;
};

}  // namespace s80::loadgen
