// SPDX-License-Identifier: GPL-2.0-or-later
// Listens, and forks a process for each connection.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace s80 {

/// Of "IPV4:PORT". Throws std::runtime_error, one sentence.
inline sockaddr_in socket_address(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::string host(text.substr(0, colon));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    unsigned short port = 0;
    bool good = colon != std::string_view::npos && inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1;
    if (good) {
        const auto [end, error] = std::from_chars(&text[colon] + 1, text.data() + text.size(), port);
        good = error == std::errc() && end == text.data() + text.size();
    }
    if (!good) throw std::runtime_error("'" + std::string(text) + "' is no address: give IPV4:PORT");
    address.sin_port = htons(port);
    return address;
}

/// Prints `port N` once it listens on the address (port 0: any that is free), and calls `session` in a
/// process of its own for each connection, which ends with it. Throws std::runtime_error, one sentence.
[[noreturn]] inline void serve_forked(std::string_view address,
                                      const std::function<void(int socket)>& session) {
    const auto must = [&](bool good) {
        if (!good) throw std::runtime_error(std::string(address) + ": " + std::strerror(errno));
    };
    sockaddr_in to = socket_address(address);
    auto* const bytes = reinterpret_cast<sockaddr*>(&to);
    socklen_t size = sizeof to;
    const int on = 1;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(listener >= 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    must(bind(listener, bytes, size) == 0 && listen(listener, SOMAXCONN) == 0);
    must(getsockname(listener, bytes, &size) == 0);
    std::printf("port %u\n", unsigned{ntohs(to.sin_port)});
    std::fflush(stdout);
    std::signal(SIGCHLD, SIG_IGN);  // nobody waits for the sessions
    for (;;) {
        const int connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
        must(connection >= 0);
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        const pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            close(listener);
            session(connection);
            std::_Exit(EXIT_SUCCESS);
        }
        close(connection);
    }
}

/// Reads until `size` bytes are there or the other side has closed; returns how many came.
inline std::size_t read_whole(int socket, void* into, std::size_t size) {
    std::size_t have = 0;
    while (have < size) {
        const ssize_t got = read(socket, static_cast<char*>(into) + have, size - have);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        have += static_cast<std::size_t>(got);
    }
    return have;
}

/// Whether all of it could be sent.
inline bool write_whole(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace s80
