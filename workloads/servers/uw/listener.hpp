// SPDX-License-Identifier: GPL-2.0-or-later
// The part of inetd: listens, and forks one process a connection.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "listening_socket.hpp"

namespace s80::uw {

class Listener {
public:
    /// Listens on "IPV4:PORT"; port 0 is any that is free. Throws std::runtime_error, one sentence.
    explicit Listener(const std::string& address) : socket_(address) {}

    /// With the port that it has become.
    std::string address() const { return socket_.address(); }

    /// Calls `session` in a process of its own for each connection until SIGTERM or SIGINT; then ends them
    /// all. Signals must be held (signals.hpp).
    void serve(const std::function<void(int socket)>& session);

private:
    void start(int socket, const std::function<void(int socket)>& session);
    void reap();
    void end_sessions();

    ListeningSocket socket_;
    std::set<pid_t> sessions_;
};

}  // namespace s80::uw
