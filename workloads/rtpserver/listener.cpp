// SPDX-License-Identifier: GPL-2.0-or-later
#include "listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace s80::rtp {

namespace {

constexpr int backlog = 1024;  // as many may connect at once
/// Small stacks are kept for the next thread: of the usual ones the C library keeps five.
constexpr std::size_t stack_bytes = 64 * 1024;
constexpr useconds_t pause_us = 10'000;

sockaddr_in parse_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    std::uint16_t port = 0;
    bool good = colon != std::string::npos &&
                inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) == 1;
    if (good) {
        const char* last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data() + colon + 1, last, port);
        good = error == std::errc() && end == last;
    }
    if (!good) throw std::runtime_error("'" + text + "' is no address: give IPV4:PORT, as 127.0.0.1:554");
    address.sin_port = htons(port);
    return address;
}

void choose_stacks() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

}  // namespace

Listener::Listener(const std::string& address) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_in where = parse_address(address);
    const int on = 1;
    if (socket_ < 0 || setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 ||
        listen(socket_, backlog) != 0) {
        throw std::runtime_error("cannot listen on " + address + ": " + std::strerror(errno));
    }
}

std::string Listener::address() const {
    sockaddr_in own = {};
    socklen_t size = sizeof own;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size);
    char host[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &own.sin_addr, host, sizeof host);
    return std::string(host) + ":" + std::to_string(ntohs(own.sin_port));
}

void Listener::serve(const std::function<void(int socket, std::uint64_t number)>& session) const {
    choose_stacks();
    for (std::uint64_t number = 1;; ++number) {
        const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) {  // too many are open, or it has gone already
            if (errno != EINTR && errno != ECONNABORTED) usleep(pause_us);
            continue;
        }
        const int on = 1;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        try {
            std::thread([&session, connection, number] {
                pthread_setname_np(pthread_self(), "rtp-send");
                try {
                    session(connection, number);
                } catch (const std::exception& error) {
                    std::fprintf(stderr, "s80-rtp-server: a session failed: %s\n", error.what());
                }
            }).detach();
        } catch (const std::system_error& error) {
            std::fprintf(stderr, "s80-rtp-server: no thread for a connection: %s\n", error.what());
            close(connection);
        }
    }
}

}  // namespace s80::rtp
