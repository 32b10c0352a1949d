// SPDX-License-Identifier: GPL-2.0-or-later
// Sends one message over SMTP: connect, EHLO, MAIL, RCPT, DATA, QUIT.
#pragma once

#include <string>
#include <string_view>

#include "connection.h"
#include "task.h"

namespace s80::loadgen {

struct Envelope {
    std::string from;
    std::string to;
    std::string message;  // header and text, lines ended by CR LF, no line begins with a dot
};

class SmtpSession final : public Connection {
public:
    explicit SmtpSession(Network& network) : Connection(network) {}

    /// Delivers one message. Throws Failure (smtp) for a reply other than 2xx, or other than 354 to DATA.
    Task deliver(const Endpoint& server, const Envelope& envelope);

    // Its parts, for those who are interested in each:
    Task connect(const Endpoint& server);
    /// Sends a line and waits for a reply whose code begins with `expected`.
    Task exchange(std::string line, char expected);
    /// DATA and the message.
    Task data(std::string_view message);
    Task quit();

private:
    std::size_t consume(std::string_view bytes) override;
    void check(std::string_view request, char expected) const;

    std::string reply_;  // the last line of the reply
};

}  // namespace s80::loadgen
