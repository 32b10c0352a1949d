// SPDX-License-Identifier: GPL-2.0-or-later
// Does inetd's work: listens, and forks one process per connection.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "listening_socket.hpp"

namespace s80::uw {

class Listener {
public:
    /// Listens on "IPV4:PORT"; port 0 selects any free port. Throws std::runtime_error with one sentence.
    explicit Listener(const std::string& address) : socket_(address) {}

    /// The address with the actual port.
    std::string address() const { return socket_.address(); }

    /// Calls `session` for each connection in a new process until SIGTERM or SIGINT; then ends all of them.
    /// Signals must be held (signals.hpp).
    void serve(const std::function<void(int socket)>& session);

private:
    void start(int socket, const std::function<void(int socket)>& session);
    void reap();
    void end_sessions();

    ListeningSocket socket_;
    std::set<pid_t> sessions_;
};

}  // namespace s80::uw
