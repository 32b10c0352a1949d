// SPDX-License-Identifier: GPL-2.0-or-later
// Size and replacement policy of a tag array in slices.
#pragma once
#include "cache/geometry.h"
#include "cache/replacement.h"

namespace s80::model {

/// Size and associativity of all slices together.
struct SlicedGeometry {
    CacheGeometry all;
    unsigned slices = 1;
    Policy policy = Policy::lru;

    CacheGeometry slice() const { return {all.bytes / slices, all.ways}; }
    std::uint64_t lines(unsigned line_bytes) const { return all.bytes / line_bytes; }
};

}  // namespace s80::model
