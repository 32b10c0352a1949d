// SPDX-License-Identifier: GPL-2.0-or-later
// Size, associativity and replacement policy of a cache, as a machine file states them.
#pragma once
#include <cstdint>

namespace s80::model {

enum class Policy : std::uint8_t { lru, plru, random };
inline constexpr unsigned kMaxWays = 16;

struct CacheGeometry {
    std::uint64_t bytes = 0;
    unsigned ways = 0;
    unsigned sets(unsigned line_bytes) const {
        return static_cast<unsigned>(bytes / (static_cast<std::uint64_t>(ways) * line_bytes));
    }
};

}  // namespace s80::model
