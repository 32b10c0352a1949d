// SPDX-License-Identifier: GPL-2.0-or-later
// A server that forks one process per connection.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "listening_socket.h"

namespace s80 {

/// Prints `port N` when it listens on the address (port 0: any free port), and calls `session` for each
/// connection in a new process, which ends with the connection. Throws std::runtime_error with one sentence.
[[noreturn]] inline void serve_forked(std::string_view address,
                                      const std::function<void(int socket)>& session) {
    const ListeningSocket listener{std::string(address)};
    const auto must = [&](bool good) {
        if (!good) {
            throw std::runtime_error(std::string(address) + ": " + std::strerror(errno));
        }
    };
    const int on = 1;
    std::printf("port %u\n", listener.port());
    std::fflush(stdout);
    std::signal(SIGCHLD, SIG_IGN);  // nobody waits for the sessions
    for (;;) {
        const int connection = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0 && (errno == EINTR || errno == ECONNABORTED)) {
            continue;
        }
        must(connection >= 0);
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        const pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            close(listener.get());
            session(connection);
            std::_Exit(EXIT_SUCCESS);
        }
        close(connection);
    }
}

/// Reads until `size` bytes have arrived or the other side has closed. Returns the number of bytes.
inline std::size_t read_whole(int socket, void* into, std::size_t size) {
    std::size_t have = 0;
    while (have < size) {
        const ssize_t got = read(socket, static_cast<char*>(into) + have, size - have);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        have += static_cast<std::size_t>(got);
    }
    return have;
}

/// Whether all bytes could be sent.
inline bool write_whole(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace s80
