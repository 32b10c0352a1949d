// SPDX-License-Identifier: GPL-2.0-or-later
// s80-media: writes the media that an RTP server streams, one of each rate for each user.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "medium.h"

using namespace s80::media;

namespace {

constexpr const char* kUsage =
    "usage: s80-media --root FOLDER --users N --seconds N --rates KBPS,...\n"
    "Writes FOLDER/user001/KBPS and so on; a user's folder may exist already.\n";

unsigned number(std::string_view text, unsigned most) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > most) {
        throw std::runtime_error("'" + std::string(text) + "' is not a number from 1 to " +
                                 std::to_string(most));
    }
    return value;
}

std::vector<unsigned> rates(std::string_view text) {
    std::vector<unsigned> all;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        all.push_back(number(text.substr(0, end), 1'000'000));
        if (!possible_rate(all.back())) {
            throw std::runtime_error(std::to_string(all.back()) + " kbit/s cannot be cut into packets of " +
                                     std::to_string(kPacketMs) + " ms");
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return all;
}

void write(const std::filesystem::path& root, const Medium& medium, unsigned seconds) {
    const std::filesystem::path path = root / medium.path();
    std::filesystem::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    std::vector<char> packet(medium.packet_bytes());
    for (unsigned i = 0; i < seconds * 1000 / kPacketMs; ++i) {
        medium.copy(i * packet.size(), packet);
        file.write(packet.data(), static_cast<std::streamsize>(packet.size()));
    }
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string_view, std::string> options = {
        {"--root", ""}, {"--users", ""}, {"--seconds", ""}, {"--rates", ""}};
    bool known = argc == 9;
    for (int i = 1; known && i + 1 < argc; i += 2) {
        const auto option = options.find(argv[i]);
        known = option != options.end() && option->second.empty();
        if (known) {
            option->second = argv[i + 1];
        }
    }
    if (!known) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    const std::string root = options["--root"];
    try {
        const unsigned users = number(options["--users"], 999), seconds = number(options["--seconds"], 3600);
        for (const unsigned rate : rates(options["--rates"])) {
            for (unsigned user = 1; user <= users; ++user) {
                write(root, {user, rate}, seconds);
            }
        }
        return 0;
    } catch (const std::ios::failure&) {
        std::fprintf(stderr, "s80-media: %s cannot be written: %s\n", root.c_str(), std::strerror(errno));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "s80-media: %s\n", error.what());
    }
    return 1;
}
