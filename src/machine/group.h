// SPDX-License-Identifier: GPL-2.0-or-later
// The table [group].
#pragma once
#include <array>

#include "base/key.h"
#include "cache/geometry.h"
#include "cache/replacement.h"
#include "machine/keys.h"

namespace s80::model {

/// Group caches: each group of cores shares a cache that takes the victims of its L2s.
struct Group {
    static constexpr std::array kKeys{
        Key{.name = "group.cores",
            .least = 1,
            .most = kWideCores,
            .text = "cores that share a group cache; must divide the number of cores"},
        Key{.name = "group.size",
            .type = KeyType::size,
            .most = 64 * kGiB,
            .unit = "bytes",
            .text = "of each group cache; size / (ways x line_bytes) must be a power of two"},
        Key{.name = "group.ways", .least = 1, .most = kMaxWays, .text = "associativity"},
        Key{.name = "group.replacement",
            .type = KeyType::name,
            .otherwise = 0,
            .names = Policies::kNames,
            .text = "replacement policy"}};

    unsigned cores = 1;  ///< of a group
    CacheGeometry cache;
    Policy policy = Policy::lru;

    static Group read(const Keys& keys) {
        return {keys.number(kKeys[0]),
                {keys.wide(kKeys[1]), keys.number(kKeys[2])},
                static_cast<Policy>(keys.choice(kKeys[3]))};
    }
};

}  // namespace s80::model
