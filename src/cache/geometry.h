// SPDX-License-Identifier: GPL-2.0-or-later
// Size and associativity of a cache, as a machine file states them.
#pragma once
#include <array>
#include <cstdint>

#include "base/key.h"

namespace s80::model {

/// The largest number of ways of an L1. An event of an L1-filtered capture has 4 bits for the way
/// (Event::l1_way).
inline constexpr unsigned kMaxL1Ways = 16;
/// The largest number of ways of any other cache.
inline constexpr unsigned kMaxWays = 32;

/// The machine keys for the size and the ways of a cache. The limit of 64 GiB keeps sizes from overflowing;
/// the tags of such a cache already need a large part of a host's memory.
constexpr std::array<Key, 2> cache_keys(const char* size, const char* ways, unsigned most_ways) {
    return {Key{.name = size,
                .type = KeyType::size,
                .most = 64 * kGiB,
                .unit = "bytes",
                .text = "size / (ways x line_bytes) must be a power of two"},
            Key{.name = ways, .least = 1, .most = static_cast<double>(most_ways), .text = "associativity"}};
}
inline constexpr std::array kL1iKeys = cache_keys("l1i.size", "l1i.ways", kMaxL1Ways);
inline constexpr std::array kL1dKeys = cache_keys("l1d.size", "l1d.ways", kMaxL1Ways);
inline constexpr std::array kL2Keys = cache_keys("l2.size", "l2.ways", kMaxWays);

struct CacheGeometry {
    std::uint64_t bytes = 0;
    unsigned ways = 0;
    unsigned sets(unsigned line_bytes) const {
        return static_cast<unsigned>(bytes / (static_cast<std::uint64_t>(ways) * line_bytes));
    }
};

}  // namespace s80::model
