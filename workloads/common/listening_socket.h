// SPDX-License-Identifier: GPL-2.0-or-later
// The listening socket of our servers, and its address.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace s80 {

/// Parses "IPV4:PORT". Throws std::runtime_error with one sentence.
inline sockaddr_in socket_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    unsigned short port = 0;
    bool good = colon != std::string::npos &&
                inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) == 1;
    if (good) {
        const char* last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data() + colon + 1, last, port);
        good = error == std::errc() && end == last;
    }
    if (!good) {
        throw std::runtime_error("'" + text +
                                 "' is not an address: give IPV4:PORT, for example 127.0.0.1:5000");
    }
    address.sin_port = htons(port);
    return address;
}

class ListeningSocket {
public:
    /// Listens on "IPV4:PORT"; port 0 selects any free port. Throws std::runtime_error with one sentence.
    explicit ListeningSocket(const std::string& address) {
        const sockaddr_in where = socket_address(address);
        socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int on = 1;
        if (socket_ < 0 || setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
            bind(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 ||
            listen(socket_, kBacklog) != 0) {
            const int why = errno;
            close();
            throw std::runtime_error("cannot listen on " + address + ": " + std::strerror(why));
        }
    }
    ~ListeningSocket() { close(); }
    ListeningSocket(const ListeningSocket&) = delete;
    ListeningSocket& operator=(const ListeningSocket&) = delete;

    int get() const { return socket_; }

    /// "IPV4:PORT" with the actual port.
    std::string address() const {
        const sockaddr_in own = name();
        char host[INET_ADDRSTRLEN] = "";
        inet_ntop(AF_INET, &own.sin_addr, host, sizeof host);
        return std::string(host) + ":" + std::to_string(port());
    }

    unsigned port() const { return ntohs(name().sin_port); }

    void close() {
        if (const int open = std::exchange(socket_, -1); open >= 0) {
            ::close(open);
        }
    }

private:
    static constexpr int kBacklog = 1024;  // limit of pending connections

    sockaddr_in name() const {
        sockaddr_in own{};
        socklen_t size = sizeof own;
        getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size);
        return own;
    }

    int socket_ = -1;
};

}  // namespace s80
