// SPDX-License-Identifier: GPL-2.0-or-later
#include "listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>
#include <thread>

namespace s80::rtp {

namespace {

/// Small stacks are kept for the next thread: of the usual ones the C library keeps five.
constexpr std::size_t kStackBytes = 64 * 1024;
constexpr useconds_t kPauseUs = 10'000;

void choose_stacks() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

}  // namespace

void Listener::serve(const std::function<void(int socket, std::uint64_t number)>& session) const {
    choose_stacks();
    for (std::uint64_t number = 1;; ++number) {
        const int connection = accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) {  // too many are open, or it has gone already
            if (errno != EINTR && errno != ECONNABORTED) {
                usleep(kPauseUs);
            }
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
