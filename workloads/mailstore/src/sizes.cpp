// SPDX-License-Identifier: GPL-2.0-or-later
#include "sizes.h"

#include <utility>

namespace s80::mailstore {

std::size_t mean_message_bytes() {
    std::size_t hundredfold = 0;
    for (const auto& size : kSizeClasses) {
        hundredfold += size.bytes * size.percent;
    }
    return hundredfold / 100;
}

std::size_t SizeDeck::draw() {
    if (left_ == 0) {
        shuffle();
    }
    const std::size_t bytes = kSizeClasses[cards_[--left_]].bytes;
    const auto tenth = static_cast<std::uint32_t>(bytes / 10);
    return bytes - tenth + random_.below(2 * tenth + 1);
}

void SizeDeck::shuffle() {
    std::size_t next = 0;
    for (std::size_t kind = 0; kind < kSizeClasses.size(); ++kind) {
        for (int i = 0; i < kSizeClasses[kind].percent; ++i) {
            cards_[next++] = static_cast<std::uint8_t>(kind);
        }
    }
    for (std::size_t i = cards_.size() - 1; i > 0; --i) {
        std::swap(cards_[i], cards_[random_.below(static_cast<std::uint32_t>(i + 1))]);
    }
    left_ = cards_.size();
}

}  // namespace s80::mailstore
