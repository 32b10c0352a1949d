// SPDX-License-Identifier: GPL-2.0-or-later
#include "listener.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include "signals.hpp"

namespace s80::uw {

namespace {

constexpr int backlog = 1024;      // as many may log in at once
constexpr time_t patience_s = 10;  // for sessions to write their mailboxes

sockaddr_in parse_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    unsigned short port = 0;
    bool good = colon != std::string::npos &&
                inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) == 1;
    if (good) {
        const char* last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data() + colon + 1, last, port);
        good = error == std::errc() && end == last;
    }
    if (!good) throw std::runtime_error("'" + text + "' is no address: give IPV4:PORT, as 127.0.0.1:993");
    address.sin_port = htons(port);
    return address;
}

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

Listener::Listener(const std::string& address) {
    const sockaddr_in where = parse_address(address);
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (socket_ < 0 || setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 ||
        listen(socket_, backlog) != 0) {
        throw std::runtime_error("cannot listen on " + address + ": " + std::strerror(errno));
    }
}

Listener::~Listener() {
    if (socket_ >= 0) close(socket_);
}

std::string Listener::address() const {
    sockaddr_in own = {};
    socklen_t size = sizeof own;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size);
    char host[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &own.sin_addr, host, sizeof host);
    return std::string(host) + ":" + std::to_string(ntohs(own.sin_port));
}

void Listener::serve(const std::function<void(int socket)>& session) {
    hold_child_signal();
    while (farewell() == nullptr) {
        pollfd waiting = {socket_, POLLIN, 0};
        const int ready = ppoll(&waiting, 1, nullptr, &waiting_mask());
        reap();
        if (ready <= 0) continue;
        const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection >= 0) start(connection, session);
    }
    end_sessions();
}

void Listener::start(int socket, const std::function<void(int socket)>& session) {
    const pid_t child = fork();
    if (child == 0) {
        release_child_signal();
        close(socket_);
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
    close(socket_);
    socket_ = -1;
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
