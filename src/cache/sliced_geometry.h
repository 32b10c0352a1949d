// SPDX-License-Identifier: GPL-2.0-or-later
// Size and replacement policy of a SlicedCache: the tables [llc] and [directory] of machine files.
#pragma once
#include <array>

#include "cache/geometry.h"
#include "cache/replacement.h"

namespace s80::model {

/// The four keys of such a table: size, ways, slices, policy.
constexpr std::array<Key, 4> sliced_keys(const Key& size, const char* ways, const char* slices,
                                         const char* replacement) {
    return {size, Key{.name = ways, .least = 1, .most = kMaxWays, .text = "associativity"},
            Key{.name = slices,
                .least = 1,
                .most = 1024,
                .otherwise = 1,
                .text = "slices of equal size; a hash of the line selects one"},
            Key{.name = replacement,
                .type = KeyType::name,
                .otherwise = 0,
                .names = Policies::kNames,
                .text = "replacement policy"}};
}
inline constexpr std::array kLlcKeys =
    sliced_keys(Key{.name = "llc.size",
                    .type = KeyType::size,
                    .most = 64 * kGiB,
                    .unit = "bytes",
                    .text = "of all slices; size / (slices x ways x line_bytes) must be a power of two"},
                "llc.ways", "llc.slices", "llc.replacement");
/// The limit is 1000 entries for each line of the private caches; a directory of this size is never full.
inline constexpr std::array kDirectoryKeys =
    sliced_keys(Key{.name = "directory.entries",
                    .least = 1,
                    .most = 2 * kGiB,
                    .most_multiple = 1000,
                    .text = "of all slices; 1.5x: one and a half times the lines of all private caches"},
                "directory.ways", "directory.slices", "directory.replacement");

/// `all`: size of all slices together, and ways of each.
struct SlicedGeometry {
    CacheGeometry all;
    unsigned slices = 1;
    Policy policy = Policy::lru;

    CacheGeometry slice() const { return {all.bytes / slices, all.ways}; }
    std::uint64_t lines(unsigned line_bytes) const { return all.bytes / line_bytes; }
};

}  // namespace s80::model
