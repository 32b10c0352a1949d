// SPDX-License-Identifier: GPL-2.0-or-later
#include "content.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace s80::webstore {

namespace {

/// The text repeats itself after so many bytes, a prime: files do not hold the same pages.
constexpr std::size_t kPeriod = 65521;
constexpr std::size_t kLine = 80;

constexpr std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 31;
    value *= 0x9E3779B97F4A7C15;
    value ^= value >> 29;
    value *= 0xBF58476D1CE4E5B9;
    return value ^ (value >> 32);
}

const std::string& text() {
    static const std::string made = [] {
        constexpr std::string_view kLetters = "etaoin shrdlu cmfwyp vbgkqj xz. ,";
        std::string all;
        for (std::uint64_t i = 1; all.size() < kPeriod; ++i) {
            all += all.size() % kLine == kLine - 1 ? '\n' : kLetters[mixed(i) % kLetters.size()];
        }
        return all;
    }();
    return made;
}

}  // namespace

std::size_t File::bytes() const {
    constexpr std::array<std::size_t, kClasses> kSmallest = {100, 1'000, 10'000, 100'000};
    return one_size != 0 ? one_size : number * kSmallest[size_class];
}

std::string File::path() const {
    char name[48];
    std::snprintf(name, sizeof name, "files/d%04u/c%u_%u", directory, size_class, number);
    return name;
}

Text::Text(const File& file)
    : place_(mixed((std::uint64_t{file.directory} * kClasses + file.size_class) * (kFilesOfClass + 1) +
                   file.number + 1)),
      size_(file.bytes()) {}

Text::Text(unsigned user) : place_(mixed(~std::uint64_t{user})), size_(kRecordBytes) {}

std::string_view Text::from(std::size_t at) const {
    const std::size_t begin = (place_ % kPeriod + at) % kPeriod;
    return std::string_view(text()).substr(begin, size_ - at);
}

std::string page_begin(unsigned user) {
    return "<html><head><title>User " + std::to_string(user) + "</title></head>\n<body><pre>\n";
}

std::string page_end(const File& file) {
    return "\n</pre><p>" + file.path() + "</p></body></html>\n";
}

}  // namespace s80::webstore
