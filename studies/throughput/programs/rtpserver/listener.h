// SPDX-License-Identifier: GPL-2.0-or-later
// Listens, and starts one thread per connection.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "listening_socket.h"

namespace s80::rtp {

class Listener {
public:
    /// Listens on "IPV4:PORT"; port 0 selects any free port. Throws std::runtime_error with one sentence.
    explicit Listener(const std::string& address) : socket_(address) {}

    /// The address with the actual port.
    std::string address() const { return socket_.address(); }

    /// Calls `session` for each connection in a new thread, with the socket and the number of the connection
    /// (from 1), until the program ends. Exceptions are printed.
    [[noreturn]] void serve(const std::function<void(int socket, std::uint64_t number)>& session) const;

private:
    ListeningSocket socket_;
};

}  // namespace s80::rtp
