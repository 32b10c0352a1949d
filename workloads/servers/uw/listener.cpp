// SPDX-License-Identifier: GPL-2.0-or-later
#include "listener.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "signals.hpp"

namespace s80::uw {

namespace {

constexpr time_t patience_s = 10;  // for sessions to write their mailboxes

void no_action(int) {}

/// SIGCHLD is to end the wait for connections, and stays held otherwise.
void hold_child_signal() {
    struct sigaction action = {};
    action.sa_handler = no_action;
    sigaction(SIGCHLD, &action, nullptr);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, nullptr);
}

void release_child_signal() {
    std::signal(SIGCHLD, SIG_DFL);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &child, nullptr);
}

}  // namespace

void Listener::serve(const std::function<void(int socket)>& session) {
    hold_child_signal();
    while (farewell() == nullptr) {
        pollfd waiting = {socket_.get(), POLLIN, 0};
        const int ready = ppoll(&waiting, 1, nullptr, &waiting_mask());
        reap();
        if (ready <= 0) continue;
        const int connection = accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC);
        if (connection >= 0) start(connection, session);
    }
    end_sessions();
}

void Listener::start(int socket, const std::function<void(int socket)>& session) {
    const pid_t child = fork();
    if (child == 0) {
        release_child_signal();
        socket_.close();
        session(socket);
        std::_Exit(EXIT_SUCCESS);
    }
    if (child < 0)
        std::fprintf(stderr, "s80-uw-imapd: no process for a connection: %s\n", std::strerror(errno));
    if (child > 0) sessions_.insert(child);
    close(socket);
}

void Listener::reap() {
    for (pid_t child = 0; (child = waitpid(-1, nullptr, WNOHANG)) > 0;) sessions_.erase(child);
}

void Listener::end_sessions() {
    socket_.close();
    for (const pid_t child : sessions_) kill(child, SIGTERM);
    sigset_t child_signal;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    const timespec patience = {patience_s, 0};
    for (reap(); !sessions_.empty(); reap()) {
        if (sigtimedwait(&child_signal, nullptr, &patience) > 0 || errno != EAGAIN) continue;
        for (const pid_t child : sessions_) kill(child, SIGKILL);
    }
}

}  // namespace s80::uw
