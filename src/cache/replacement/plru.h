// SPDX-License-Identifier: GPL-2.0-or-later
// Approximates LRU with a binary tree of bits (tree PLRU), which has one bit less than the set has ways.
#pragma once
#include <bit>

#include "cache/replacement/set_state.h"

namespace s80::model {

/// The state of a set is a binary tree of bits. Each bit points to the half of its ways from which the next
/// victim comes.
struct Plru {
    static constexpr const char* kName = "plru";
    static constexpr bool kForeseeable = true;

    static constexpr const char* objection(unsigned ways) {
        return std::has_single_bit(ways) ? nullptr : "must be a power of two";
    }
    static constexpr unsigned bits(unsigned ways) { return ways; }

    static void init(std::byte* set, unsigned ways) { store_state(set, 0, bits(ways)); }

    static void touch(std::byte* set, unsigned ways, unsigned way) {
        std::uint64_t tree = load_state(set, bits(ways));
        unsigned node = 1;
        for (unsigned half = ways / 2; half != 0; half /= 2) {
            const bool right = (way & half) != 0;
            tree = right ? tree & ~(std::uint64_t{1} << node) : tree | std::uint64_t{1} << node;
            node = node * 2 + (right ? 1 : 0);
        }
        store_state(set, tree, bits(ways));
    }

    static unsigned victim(const std::byte* set, unsigned ways, std::uint64_t&) {
        const std::uint64_t tree = load_state(set, bits(ways));
        unsigned node = 1;
        unsigned way = 0;
        for (unsigned half = ways / 2; half != 0; half /= 2) {
            const bool right = (tree >> node & 1) != 0;
            way |= right ? half : 0;
            node = node * 2 + (right ? 1 : 0);
        }
        return way;
    }
};

}  // namespace s80::model
