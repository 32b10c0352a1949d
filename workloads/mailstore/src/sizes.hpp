// SPDX-License-Identifier: GPL-2.0-or-later
// Message sizes: those that a study of an e-mail server states (45, 38, 10, 5 and 2% of the messages). The
// paper states none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "random.hpp"

namespace s80::mailstore {

struct SizeClass {
    std::size_t bytes;
    std::uint8_t percent;
};

inline constexpr std::array<SizeClass, 5> size_classes{
    {{1062, 45}, {2050, 38}, {5321, 10}, {34762, 5}, {139602, 2}}};

/// Mean size in bytes of a message by the table above.
std::size_t mean_message_bytes();

/// Draws sizes from a shuffled deck of 100 cards, one a percent: any 100 draws in a row from the start of a
/// deck have the distribution exactly, so that small stores are not at the mercy of a few large messages.
class SizeDeck {
public:
    explicit SizeDeck(Random& random) : random_(random) {}

    /// The next size in bytes: its class's size, give or take a tenth.
    std::size_t draw();

private:
    void shuffle();

    Random& random_;
    std::array<std::uint8_t, 100> cards_{};
    std::size_t left_ = 0;
};

}  // namespace s80::mailstore
