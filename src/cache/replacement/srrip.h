// SPDX-License-Identifier: GPL-2.0-or-later
// Static re-reference interval prediction with hit priority (SRRIP-HP): Jaleel, Theobald, Steely and Emer,
// High Performance Cache Replacement Using Re-Reference Interval Prediction, ISCA 2010.
#pragma once
#include <bit>

#include "cache/replacement/set_state.h"

namespace s80::model {

/// The state of a set has two bits for each way: its re-reference prediction value, from 0 (soon) to 3
/// (distant). A fill sets it to 2, a hit to 0. The victim is the lowest way with value 3. If there is none,
/// the values of all ways are increased until one is 3. So a line that was used once is evicted before a line
/// that was used again.
struct Srrip {
    static constexpr const char* kName = "srrip";
    static constexpr bool kForeseeable = false;  // the search for a victim changes the set

    static constexpr const char* objection(unsigned) { return nullptr; }
    static constexpr unsigned bits(unsigned ways) { return 2 * ways; }
    static void init(std::byte* set, unsigned ways) { store_state(set, low_bits(ways) * 3, bits(ways)); }

    static void touch(std::byte* set, unsigned ways, unsigned way) { predict(set, ways, way, 0); }
    static void fill(std::byte* set, unsigned ways, unsigned way) { predict(set, ways, way, 2); }

    static unsigned victim(std::byte* set, unsigned ways, std::uint64_t&) {
        const std::uint64_t ones = low_bits(ways);
        std::uint64_t values = load_state(set, bits(ways));
        for (;;) {
            if (const std::uint64_t distant = values & values >> 1 & ones; distant != 0) {
                store_state(set, values, bits(ways));
                return static_cast<unsigned>(std::countr_zero(distant)) / 2;
            }
            values += ones;  // no value is 3, so no addition carries into the bits of the next way
        }
    }

private:
    /// A word with the lower bit of each way set.
    static constexpr std::uint64_t low_bits(unsigned ways) {
        return 0x5555'5555'5555'5555U >> (64 - bits(ways));
    }
    static void predict(std::byte* set, unsigned ways, unsigned way, std::uint64_t value) {
        const std::uint64_t others = load_state(set, bits(ways)) & ~(std::uint64_t{3} << 2 * way);
        store_state(set, others | value << 2 * way, bits(ways));
    }
};

}  // namespace s80::model
