// SPDX-License-Identifier: GPL-2.0-or-later
#include "signals.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <initializer_list>

namespace s80::uw {

namespace {

volatile std::sig_atomic_t caught = 0;
sigset_t mask_of_waiting;

void note(int signal) {
    caught = signal;
}

}  // namespace

void hold_signals() {
    sigset_t held;
    sigemptyset(&held);
    struct sigaction action = {};
    action.sa_handler = note;  // without SA_RESTART: the wait is to end
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) {
        sigaddset(&held, signal);
        sigaction(signal, &action, nullptr);
    }
    sigprocmask(SIG_BLOCK, &held, nullptr);
    sigprocmask(SIG_BLOCK, nullptr, &mask_of_waiting);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR2, SIGCHLD}) {
        sigdelset(&mask_of_waiting, signal);
    }
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGCHLD, SIG_DFL);
}

void end_with_parent(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        raise(SIGTERM);  // it was quicker
    }
}

const sigset_t& waiting_mask() {
    return mask_of_waiting;
}

const char* farewell() {
    if (caught == 0) {
        return nullptr;
    }
    return caught == SIGUSR2 ? "Another session took the mailbox" : "The server is shut down";
}

}  // namespace s80::uw
