// SPDX-License-Identifier: GPL-2.0-or-later
// Does inetd's work: listens, forks one process per connection, and reports processes that a signal ended.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "listening_socket.h"

namespace s80::uw {

class Listener {
public:
    /// Listens on "IPV4:PORT"; port 0 selects any free port. Throws std::runtime_error with one sentence.
    explicit Listener(const std::string& address) : socket_(address) {}

    /// The address with the actual port.
    std::string address() const { return socket_.address(); }

    /// What a connection's process does. It writes into `note`, as a text that ends in NUL, whom it serves.
    using Session = std::function<void(int socket, std::span<char> note)>;

    /// Calls `session` for each connection in a new process until SIGTERM or SIGINT; then ends all of them.
    /// If a signal ends a process, writes a line with its note and peer to stderr.
    /// Signals must be held (signals.h).
    void serve(const Session& session);

private:
    struct Child {
        std::string peer;
        std::shared_ptr<char> note;  // in memory that both processes share
    };

    void start(int socket, const std::string& peer, const Session& session);
    void reap();
    void end_sessions();

    ListeningSocket socket_;
    std::map<pid_t, Child> sessions_;
};

}  // namespace s80::uw
