// SPDX-License-Identifier: GPL-2.0-or-later
// s80-probe: copies memory and passes a token between processes, as often as requested. One process serves
// one connection.
#include <array>
#include <cstdio>
#include <exception>
#include <string>

#include "forking_server.h"
#include "requests.h"

namespace {

constexpr std::size_t kLongestLine = 200;

void serve(int socket) {
    s80::probe::Requests requests;
    std::string pending;
    std::array<char, kLongestLine> came;
    for (;;) {
        const ssize_t got = read(socket, came.data(), came.size());
        if (got <= 0) {
            return;
        }
        pending.append(came.data(), static_cast<std::size_t>(got));
        for (std::size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
            const std::string reply = requests.answer(std::string_view(pending).substr(0, end));
            if (!s80::write_whole(socket, reply + "\n")) {
                return;
            }
        }
        if (pending.size() > kLongestLine) {
            return;
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: s80-probe IPV4:PORT\n", stderr);
        return 2;
    }
    try {
        s80::serve_forked(argv[1], serve);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "s80-probe: %s\n", error.what());
        return 1;
    }
}
