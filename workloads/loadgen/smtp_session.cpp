// SPDX-License-Identifier: GPL-2.0-or-later
#include "smtp_session.h"

namespace s80::loadgen {

Task SmtpSession::deliver(const Endpoint& server, const Envelope& envelope) {
    co_await connect(server);
    co_await exchange("EHLO loadgen.s80.example", '2');
    co_await exchange("MAIL FROM:<" + envelope.from + ">", '2');
    co_await exchange("RCPT TO:<" + envelope.to + ">", '2');
    co_await data(envelope.message);
    co_await quit();
}

Task SmtpSession::connect(const Endpoint& server) {
    open(server, nullptr);
    co_await answer();
    check("the connect", '2');
}

Task SmtpSession::data(std::string_view message) {
    co_await exchange("DATA", '3');
    send(message, "the message");
    send(".\r\n", "the message");
    co_await answer();
    check("the message", '2');
}

Task SmtpSession::quit() {
    co_await exchange("QUIT", '2');
    close();
}

Task SmtpSession::exchange(std::string line, char expected) {
    send(line + "\r\n", line);
    co_await answer();
    check(line, expected);
}

void SmtpSession::check(std::string_view request, char expected) const {
    if (!reply_.starts_with(expected)) {
        throw Failure(ErrorKind::smtp,
                      "the mail server answered " + std::string(request) + " with " + reply_);
    }
}

std::size_t SmtpSession::consume(std::string_view bytes) {
    std::size_t at = 0;
    for (;;) {
        const std::size_t newline = bytes.find('\n', at);
        if (newline == std::string_view::npos) {
            return at;
        }
        const std::string_view line = bytes.substr(at, newline - at);
        at = newline + 1;
        if (line.size() > 3 && line[3] == '-') {
            continue;  // more lines follow
        }
        reply_ = line.substr(0, line.find('\r'));
        complete();
    }
}

}  // namespace s80::loadgen
