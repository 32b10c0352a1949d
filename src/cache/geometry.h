// SPDX-License-Identifier: GPL-2.0-or-later
// Size and associativity of a cache, as a machine file states them.
#pragma once
#include <cstdint>

namespace s80::model {

/// Of an L1: an event of an L1-filtered epoch has 4 bits for the way (Event::l1_way).
inline constexpr unsigned kMaxL1Ways = 16;
/// Of any other cache.
inline constexpr unsigned kMaxWays = 32;

struct CacheGeometry {
    std::uint64_t bytes = 0;
    unsigned ways = 0;
    unsigned sets(unsigned line_bytes) const {
        return static_cast<unsigned>(bytes / (static_cast<std::uint64_t>(ways) * line_bytes));
    }
};

}  // namespace s80::model
