// SPDX-License-Identifier: GPL-2.0-or-later
// Blocks of the guest's code that accessed a disputed line lately. They are likely to do so again.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace s80::plugin {

/// Remembers blocks of this epoch and the last one. Blocks that share a slot are not distinguished. A block
/// that is mistaken for a remembered one only ends its time slice earlier than necessary.
class ContendedBlocks {
public:
    enum class Kind : std::uint8_t { none, kernel, user };

    /// `epoch`: its number, from 1. `user`: the block is one of user code.
    void add(std::uint64_t block, std::uint64_t epoch, bool user) {
        epochs_[slot(block)] = epoch << 1 | (user ? 1U : 0U);
    }
    Kind find(std::uint64_t block, std::uint64_t epoch) const {
        const std::uint64_t last = epochs_[slot(block)];
        if (last == kNever || (last >> 1) + 1 < epoch) {
            return Kind::none;
        }
        return (last & 1) != 0 ? Kind::user : Kind::kernel;
    }

private:
    static constexpr unsigned kSlotBits = 12;
    static constexpr std::uint64_t kNever = 0;

    /// Scatters the numbers, because neighbouring blocks differ in few bits.
    static std::size_t slot(std::uint64_t block) {
        return static_cast<std::size_t>(block * 0x9e37'79b9'7f4a'7c15U >> (64U - kSlotBits));
    }

    std::array<std::uint64_t, std::size_t{1} << kSlotBits> epochs_{};
};

}  // namespace s80::plugin
