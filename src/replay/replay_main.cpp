// SPDX-License-Identifier: GPL-2.0-or-later
// s80-replay: replays a capture. Prints progress and result on stdout, and errors as one line on stderr.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

#include "replay/replay.h"

int main(int argc, char** argv) {
    try {
        const auto result = s80::replay::replay(
            s80::replay::Arguments::parse(argc, argv), [](std::uint64_t played, std::uint64_t total) {
                std::printf("progress %ju %ju\n", static_cast<std::uintmax_t>(played),
                            static_cast<std::uintmax_t>(total));
                std::fflush(stdout);
            });
        std::printf("{\"events\":%ju,\"accesses\":%ju,\"instructions\":%ju,\"seconds\":%.3f}\n",
                    static_cast<std::uintmax_t>(result.events), static_cast<std::uintmax_t>(result.accesses),
                    static_cast<std::uintmax_t>(result.instructions), result.seconds);
        return 0;
    } catch (const s80::model::TooManyCores& e) {
        // The machine has too many cores for this program. s80-replay-wide, in the same folder, has the same
        // arguments and supports more.
        const std::string wide = std::filesystem::read_symlink("/proc/self/exe").string() + "-wide";
        execv(wide.c_str(), argv);
        std::fprintf(stderr, "s80-replay: %s by this program, and %s cannot be started (%s): compile it\n",
                     e.what(), wide.c_str(), std::strerror(errno));
        return 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "s80-replay: %s\n", e.what());
        return 1;
    }
}
