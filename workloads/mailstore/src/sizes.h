// SPDX-License-Identifier: GPL-2.0-or-later
// Message sizes from a study of an e-mail server (45, 38, 10, 5 and 2% of the messages). The paper states
// none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "random.h"

namespace s80::mailstore {

struct SizeClass {
    std::size_t bytes;
    std::uint8_t percent;
};

inline constexpr std::array<SizeClass, 5> kSizeClasses{
    {{1062, 45}, {2050, 38}, {5321, 10}, {34762, 5}, {139602, 2}}};

/// Mean size in bytes of a message, from the table above.
std::size_t mean_message_bytes();

/// Stratified draw of sizes from a shuffled deck of 100 cards, one per percent. Every 100 draws from the
/// start of a deck have exactly the distribution, so a few large messages cannot distort small stores.
class SizeDeck {
public:
    explicit SizeDeck(Random& random) : random_(random) {}

    /// The next size in bytes: the size of its class, plus or minus 10% at most.
    std::size_t draw();

private:
    void shuffle();

    Random& random_;
    std::array<std::uint8_t, 100> cards_{};
    std::size_t left_ = 0;
};

}  // namespace s80::mailstore
