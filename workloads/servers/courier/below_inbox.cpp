// SPDX-License-Identifier: GPL-2.0-or-later
// s80-below-inbox: a filter for an IMAP client's commands between couriertls and Courier's imapd. Courier
// has all its mailboxes below INBOX (its NAMESPACE says so; no setting changes it), so the filter moves
// other names there. The replies do not pass through the filter: both programs share their output.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "command_lines.h"

namespace {

bool write_all(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t put = write(to, bytes.data(), bytes.size());
        if (put < 0 && errno != EINTR) {
            return false;
        }
        if (put > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(put));
        }
    }
    return true;
}

/// Until the client or the server has gone. couriertls has made the input one that is not waited for by
/// reading.
void relay(int from, int to) {
    s80::courier::CommandLines lines;
    std::array<char, 16 * 1024> bytes{};
    for (;;) {
        pollfd input = {from, POLLIN, 0};
        if (poll(&input, 1, -1) < 0 && errno != EINTR) {
            return;
        }
        const ssize_t got = read(from, bytes.data(), bytes.size());
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
            return;
        }
        if (got > 0 && !write_all(to, lines.take({bytes.data(), static_cast<std::size_t>(got)}))) {
            return;
        }
    }
}

int failed(const char* what) {
    std::fprintf(stderr, "s80-below-inbox: %s: %s\n", what, std::strerror(errno));
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs(
            "usage: s80-below-inbox PROGRAM [ARGUMENT...]\n"
            "Begins PROGRAM, an IMAP server, with the client's commands on its input: mailboxes that they "
            "name\n"
            "beside INBOX are those below it.\n",
            stderr);
        return 2;
    }
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return failed("no pipe");
    }
    const auto [commands, onward] = ends;
    // The server is this process, which its parent waits for.
    switch (fork()) {
        case -1: return failed("no process for the commands");
        case 0:
            close(STDOUT_FILENO);  // the replies end with the server
            close(commands);
            std::signal(SIGPIPE, SIG_IGN);
            relay(STDIN_FILENO, onward);
            return 0;
        default:
            if (dup2(commands, STDIN_FILENO) < 0) {
                return failed("no input");
            }
            execv(argv[1], argv + 1);
            return failed(argv[1]);
    }
}
