// SPDX-License-Identifier: GPL-2.0-or-later
// Evicts the least recently used way.
#pragma once
#include <bit>

#include "cache/replacement/set_state.h"

namespace s80::model {

/// The state of a set is the list of its way numbers, the most recently used first. With up to 16 ways, a
/// number is a digit of 4 bits in one word; otherwise it is a byte.
struct Lru {
    static constexpr const char* kName = "lru";
    static constexpr bool kForeseeable = true;
    static constexpr unsigned kDigits = 16;

    static constexpr const char* objection(unsigned) { return nullptr; }
    static constexpr unsigned bits(unsigned ways) { return ways * (ways <= kDigits ? 4 : 8); }

    static void init(std::byte* set, unsigned ways) {
        std::uint64_t order = 0;
        for (unsigned i = 0; i < ways; ++i) {
            if (ways > kDigits) {
                set[i] = static_cast<std::byte>(i);
            } else {
                order |= static_cast<std::uint64_t>(i) << (4 * i);
            }
        }
        if (ways <= kDigits) {
            store_state(set, order, bits(ways));
        }
    }

    [[gnu::always_inline]] static void touch(std::byte* set, unsigned ways, unsigned way) {
        if (ways > kDigits) [[unlikely]] {
            touch_bytes(set, way);
            return;
        }
        const std::uint64_t order = load_state(set, bits(ways));
        if ((order & 15) == way) {
            return;
        }
        // The position of `way` in the list: the lowest digit of `differs` that is zero. Found without a
        // loop.
        constexpr std::uint64_t kOnes = 0x1111'1111'1111'1111U;
        const std::uint64_t differs = order ^ way * kOnes;
        const auto at =
            static_cast<unsigned>(std::countr_zero((differs - kOnes) & ~differs & kOnes << 3)) & ~3U;
        const std::uint64_t newer = order & ((std::uint64_t{1} << at) - 1);
        const std::uint64_t older = order & -(std::uint64_t{16} << at);
        store_state(set, older | newer << 4 | way, bits(ways));
    }

    static unsigned victim(const std::byte* set, unsigned ways, std::uint64_t&) {
        return way_by_recency(set, ways, ways - 1);
    }

    /// The way that was used most recently but for `newer` others: 0 is the most recently used way.
    static unsigned way_by_recency(const std::byte* set, unsigned ways, unsigned newer) {
        return ways > kDigits ? static_cast<unsigned>(set[newer])
                              : static_cast<unsigned>(load_state(set, bits(ways)) >> (4 * newer)) & 15;
    }

private:
    static void touch_bytes(std::byte* set, unsigned way) {
        unsigned at = 0;
        while (static_cast<unsigned>(set[at]) != way) {
            ++at;
        }
        std::memmove(set + 1, set, at);
        set[0] = static_cast<std::byte>(way);
    }
};

}  // namespace s80::model
