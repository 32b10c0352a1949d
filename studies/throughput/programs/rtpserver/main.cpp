// SPDX-License-Identifier: GPL-2.0-or-later
// s80-rtp-server: streams media over RTSP and RTP, with one or two buffers per stream.
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <string_view>

#include "listener.h"
#include "session.h"

namespace {

constexpr const char* kUsage =
    "usage: s80-rtp-server --listen IPV4:PORT --root FOLDER --buffers 1|2\n"
    "Streams the media of FOLDER, which s80-media has written. A stream's packets are read from its file by "
    "the\n"
    "thread that sends them (1) or by one of their own, a buffer ahead (2). Port 0 is any free one; the "
    "first line\n"
    "printed says which.\n";

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string_view, std::string> options = {{"--listen", ""}, {"--root", ""}, {"--buffers", ""}};
    bool known = argc == 7;
    for (int i = 1; known && i + 1 < argc; i += 2) {
        const auto option = options.find(argv[i]);
        known = option != options.end() && option->second.empty();
        if (known) {
            option->second = argv[i + 1];
        }
    }
    const std::string buffers = options["--buffers"];
    if (!known || (buffers != "1" && buffers != "2")) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    try {
        const s80::rtp::Settings settings = {options["--root"], buffers == "1" ? 1u : 2u};
        const s80::rtp::Listener listener(options["--listen"]);
        std::printf("s80-rtp-server: listening on %s\n", listener.address().c_str());
        std::fflush(stdout);
        listener.serve([&settings](int socket, std::uint64_t number) {
            s80::rtp::Session(socket, number, settings).run();
        });
    } catch (const std::exception& error) {
        std::fprintf(stderr, "s80-rtp-server: %s\n", error.what());
        return 1;
    }
}
