// SPDX-License-Identifier: GPL-2.0-or-later
#include "listener.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "signals.h"

namespace s80::uw {

namespace {

constexpr time_t kPatienceS = 10;  // for sessions to write their mailboxes

constexpr std::size_t kNoteBytes = 512;

/// "IPV4:PORT"
std::string address_text(const sockaddr_in& address) {
    char host[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &address.sin_addr, host, sizeof host);
    return std::string(host) + ":" + std::to_string(ntohs(address.sin_port));
}

/// Zeroed memory that a process and its children share; empty if there is none.
std::shared_ptr<char> shared_note() {
    void* const memory = mmap(nullptr, kNoteBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return nullptr;
    }
    return {static_cast<char*>(memory), [](char* note) { munmap(note, kNoteBytes); }};
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

void Listener::serve(const Session& session) {
    hold_child_signal();
    while (farewell() == nullptr) {
        pollfd waiting = {socket_.get(), POLLIN, 0};
        const int ready = ppoll(&waiting, 1, nullptr, &waiting_mask());
        reap();
        if (ready <= 0) {
            continue;
        }
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        const int connection =
            accept4(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC);
        if (connection >= 0) {
            start(connection, address_text(peer), session);
        }
    }
    end_sessions();
}

void Listener::start(int socket, const std::string& peer, const Session& session) {
    const std::shared_ptr<char> note = shared_note();
    const pid_t child = note ? fork() : -1;
    if (child == 0) {
        release_child_signal();
        socket_.close();
        session(socket, {note.get(), kNoteBytes});
        std::_Exit(EXIT_SUCCESS);
    }
    if (child < 0) {
        std::fprintf(stderr, "s80-uw-imapd: no process for a connection: %s\n", std::strerror(errno));
    }
    if (child > 0) {
        sessions_.emplace(child, Child{peer, note});
    }
    close(socket);
}

void Listener::reap() {
    int status = 0;
    for (pid_t child = 0; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
        const auto ended = sessions_.extract(child);
        if (ended.empty() || !WIFSIGNALED(status)) {
            continue;
        }
        const char* const whom = ended.mapped().note.get();
        std::fprintf(stderr, "s80-uw-imapd: signal %d (%s) ended the session of %s, from %s\n",
                     WTERMSIG(status), strsignal(WTERMSIG(status)),
                     *whom == '\0' ? "nobody (before LOGIN)" : whom, ended.mapped().peer.c_str());
    }
}

void Listener::end_sessions() {
    socket_.close();
    for (const auto& [child, whom] : sessions_) {
        kill(child, SIGTERM);
    }
    sigset_t child_signal;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    const timespec patience = {kPatienceS, 0};
    for (reap(); !sessions_.empty(); reap()) {
        if (sigtimedwait(&child_signal, nullptr, &patience) > 0 || errno != EAGAIN) {
            continue;
        }
        for (const auto& [child, whom] : sessions_) {
            kill(child, SIGKILL);
        }
    }
}

}  // namespace s80::uw
