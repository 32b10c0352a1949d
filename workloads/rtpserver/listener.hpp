// SPDX-License-Identifier: GPL-2.0-or-later
// Listens, and starts a thread for each connection.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "listening_socket.hpp"

namespace s80::rtp {

class Listener {
public:
    /// Listens on "IPV4:PORT"; port 0 is any that is free. Throws std::runtime_error, one sentence.
    explicit Listener(const std::string& address) : socket_(address) {}

    /// With the port that it has become.
    std::string address() const { return socket_.address(); }

    /// Calls `session` in a thread of its own for each connection, with its socket and its number from 1 on,
    /// for as long as the program runs. What it throws is printed.
    [[noreturn]] void serve(const std::function<void(int socket, std::uint64_t number)>& session) const;

private:
    ListeningSocket socket_;
};

}  // namespace s80::rtp
