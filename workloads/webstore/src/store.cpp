// SPDX-License-Identifier: GPL-2.0-or-later
// s80-webstore: writes the files that a web server serves, and the records that its pages show.
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

#include "content.h"

using namespace s80::webstore;

namespace {

constexpr const char* kUsage =
    "usage: s80-webstore --root FOLDER --directories N --users N [--document-bytes N]\n";

unsigned count(std::string_view text, unsigned least, unsigned most) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
        throw std::runtime_error("'" + std::string(text) + "' is not a number from " + std::to_string(least) +
                                 " to " + std::to_string(most));
    }
    return value;
}

void put(std::ofstream& file, const Text& text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view part = text.from(at);
        file.write(part.data(), static_cast<std::streamsize>(part.size()));
        at += part.size();
    }
}

std::ofstream create(const std::filesystem::path& path) {
    std::ofstream file(path, std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    return file;
}

/// document_bytes: of every file; 0: by the classes.
void build(const std::filesystem::path& root, unsigned directories, unsigned users, unsigned document_bytes) {
    for (unsigned directory = 0; directory < directories; ++directory) {
        std::filesystem::create_directories((root / File{directory, 0, 1}.path()).parent_path());
        for (unsigned size_class = 0; size_class < kClasses; ++size_class) {
            for (unsigned number = 1; number <= kFilesOfClass; ++number) {
                const File file{directory, size_class, number, document_bytes};
                std::ofstream out = create(root / file.path());
                put(out, Text(file));
            }
        }
    }
    std::ofstream records = create(root / "records");
    for (unsigned user = 0; user < users; ++user) {
        put(records, Text(user));
    }
    create(root / "size") << directories << ' ' << users << ' ' << document_bytes << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string_view, std::string_view> given = {
        {"--root", ""}, {"--directories", ""}, {"--users", ""}, {"--document-bytes", "0"}};
    bool good = argc % 2 == 1;
    for (int i = 1; good && i < argc; i += 2) {
        const auto option = given.find(argv[i]);
        good = option != given.end();
        if (good) {
            option->second = argv[i + 1];
        }
    }
    for (const auto& [option, value] : given) {
        good = good && !value.empty();
    }
    if (!good) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    const std::string root(given["--root"]);
    try {
        build(root, count(given["--directories"], 1, 9999), count(given["--users"], 1, 9999),
              count(given["--document-bytes"], 0, 100'000'000));
        return 0;
    } catch (const std::ios::failure&) {
        std::fprintf(stderr, "s80-webstore: %s cannot be written: %s\n", root.c_str(), std::strerror(errno));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "s80-webstore: %s\n", error.what());
    }
    return 1;
}
