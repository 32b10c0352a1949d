// SPDX-License-Identifier: GPL-2.0-or-later
#include "medium.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace s80::media {

std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 31;
    value *= 0x9E3779B97F4A7C15;
    value ^= value >> 29;
    value *= 0xBF58476D1CE4E5B9;
    return value ^ (value >> 32);
}

std::string Medium::path() const {
    char name[32];
    std::snprintf(name, sizeof name, "user%03u/%u", user, rate_kbps);
    return name;
}

void Medium::copy(std::size_t at, std::span<char> into) const {
    const std::uint64_t seed = mixed(std::uint64_t{user} << 32 | rate_kbps);
    while (!into.empty()) {
        const std::uint64_t word = mixed(seed + at / sizeof(std::uint64_t));
        const std::size_t within = at % sizeof word;
        const std::size_t part = std::min(sizeof word - within, into.size());
        std::memcpy(into.data(), reinterpret_cast<const char*>(&word) + within, part);
        into = into.subspan(part);
        at += part;
    }
}

std::optional<Medium> parse_medium(std::string_view path) {
    Medium medium{};
    if (!path.starts_with("user")) {
        return std::nullopt;
    }
    const char* const end = path.data() + path.size();
    const auto user = std::from_chars(path.data() + 4, end, medium.user);
    if (user.ec != std::errc() || user.ptr == end) {
        return std::nullopt;
    }
    std::from_chars(user.ptr + 1, end, medium.rate_kbps);
    const bool good = possible_rate(medium.rate_kbps) && medium.path() == path;
    return good ? std::optional(medium) : std::nullopt;
}

}  // namespace s80::media
