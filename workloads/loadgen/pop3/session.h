// SPDX-License-Identifier: GPL-2.0-or-later
// One POP3 session over TLS (RFC 1939): sends a command, waits for its reply, and records what it lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "connection.h"
#include "task.h"

namespace s80::loadgen {

class Pop3Session final : public Connection {
public:
    explicit Pop3Session(Network& network) : Connection(network) {}

    /// Connects, without TLS if `tls` is null, and waits for the greeting.
    Task connect(const Endpoint& server, const TlsContext* tls);
    /// USER; PASS.
    Task give_user(const std::string& user);
    Task give_password(std::string_view password);
    /// STAT: requests the number of messages.
    Task count();
    /// Connects and performs USER, PASS and STAT.
    Task log_in(const Endpoint& server, const TlsContext& tls, std::string user, std::string_view password);
    /// LIST: afterwards size() is known for each message. The sizes must add up to STAT's.
    Task list();
    /// UIDL: a unique name for each message.
    Task name_all();
    /// RETR: the message must have the size that LIST gave.
    Task retrieve(unsigned message);
    Task remove(unsigned message);
    /// QUIT: removes the deleted messages.
    Task quit();

    unsigned messages() const { return messages_; }
    /// Bytes of each message, from LIST.
    const std::vector<std::uint64_t>& sizes() const { return sizes_; }

private:
    enum class Reply { status, listing, names, message };

    std::size_t consume(std::string_view bytes) override;
    void on_line(std::string_view line);
    void on_status(std::string_view line);
    void on_listed(std::string_view line);
    /// Throws Failure for -ERR.
    Task command(std::string text, Reply reply = Reply::status);

    std::string line_;  // the command in flight
    Reply reply_ = Reply::status;
    bool within_ = false;  // the lines behind +OK
    std::string status_;
    std::vector<std::uint64_t> sizes_;  // by LIST
    unsigned named_ = 0;                // by UIDL
    std::uint64_t retrieved_ = 0;       // bytes of a message
    unsigned messages_ = 0;
    std::uint64_t octets_ = 0;  // by STAT
};

}  // namespace s80::loadgen
