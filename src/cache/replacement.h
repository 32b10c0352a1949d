// SPDX-License-Identifier: GPL-2.0-or-later
// Replacement policies behind one small interface, with 64 bits of state per set.
#pragma once
#include <bit>
#include <cstdint>

#include "machine/geometry.h"

namespace s80::model {

/// lru: a list of way numbers, 4 bits each, the most recently used lowest.
/// plru: a binary tree of bits, each of which points to the half that will be evicted from next.
/// random: one xorshift generator for the whole cache, seeded with a constant.
class Replacement {
public:
    Replacement(Policy policy, unsigned ways) : policy_(policy), ways_(ways) {}

    /// The state of a set in which no way has been used yet.
    std::uint64_t initial() const {
        if (policy_ != Policy::lru) {
            return 0;
        }
        std::uint64_t order = 0;
        for (unsigned i = 0; i < ways_; ++i) {
            order |= static_cast<std::uint64_t>(i) << (4 * i);
        }
        return order;
    }

    void touch(std::uint64_t& set, unsigned way) const {
        if (policy_ == Policy::lru) {
            if ((set & 15) == way) {
                return;
            }
            // Where in the list it stands: of `differs` the lowest digit that is zero, found without a loop.
            constexpr std::uint64_t kOnes = 0x1111'1111'1111'1111U;
            const std::uint64_t differs = set ^ way * kOnes;
            const auto at =
                static_cast<unsigned>(std::countr_zero((differs - kOnes) & ~differs & kOnes << 3)) & ~3U;
            const std::uint64_t newer = set & ((std::uint64_t{1} << at) - 1);
            const std::uint64_t older = set & -(std::uint64_t{16} << at);
            set = older | newer << 4 | way;
        } else if (policy_ == Policy::plru) {
            unsigned node = 1;
            for (unsigned half = ways_ / 2; half != 0; half /= 2) {
                const bool right = (way & half) != 0;
                set = right ? set & ~(std::uint64_t{1} << node) : set | std::uint64_t{1} << node;
                node = node * 2 + (right ? 1 : 0);
            }
        }
    }

    /// lru only: the way that `newer` other ways were used after.
    static unsigned way_by_recency(std::uint64_t set, unsigned newer) {
        return static_cast<unsigned>(set >> (4 * newer)) & 15;
    }

    /// The way to evict from a set whose ways are all in use.
    unsigned victim(std::uint64_t set) {
        if (foreseeable()) {
            return next_victim(set);
        }
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        return static_cast<unsigned>(random_ % ways_);
    }

    /// Whether the state of a set determines its next victim.
    bool foreseeable() const { return policy_ != Policy::random; }
    unsigned next_victim(std::uint64_t set) const {
        if (policy_ == Policy::lru) {
            return way_by_recency(set, ways_ - 1);
        }
        unsigned node = 1;
        unsigned way = 0;
        for (unsigned half = ways_ / 2; half != 0; half /= 2) {
            const bool right = (set >> node & 1) != 0;
            way |= right ? half : 0;
            node = node * 2 + (right ? 1 : 0);
        }
        return way;
    }

    std::uint64_t random_state() const { return random_; }
    void set_random_state(std::uint64_t state) { random_ = state; }

private:
    Policy policy_;
    unsigned ways_;
    std::uint64_t random_ = 0x9e3779b97f4a7c15U;
};

}  // namespace s80::model
