// SPDX-License-Identifier: GPL-2.0-or-later
// Evicts a random way.
#pragma once
#include "cache/replacement/set_state.h"

namespace s80::model {

/// Victims come from one xorshift generator for the whole cache, whose seed is constant: runs are
/// reproducible.
struct Random {
    static constexpr const char* kName = "random";
    static constexpr bool kForeseeable = false;

    static constexpr const char* objection(unsigned) { return nullptr; }
    static constexpr unsigned bits(unsigned) { return 0; }
    static void init(std::byte*, unsigned) {}
    static void touch(std::byte*, unsigned, unsigned) {}

    static unsigned victim(const std::byte*, unsigned ways, std::uint64_t& generator) {
        generator ^= generator << 13;
        generator ^= generator >> 7;
        generator ^= generator << 17;
        return static_cast<unsigned>(generator % ways);
    }
};

}  // namespace s80::model
