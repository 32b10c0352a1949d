// SPDX-License-Identifier: GPL-2.0-or-later
// Remembers blocks of the guest's code that accessed a disputed line (one that was transferred in this epoch
// or the last): these blocks are likely to do so again.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace s80::plugin {

/// Keeps blocks of this epoch and the last one, in a direct-mapped table without tags. If two blocks share a
/// slot, the wrong one may be found: its time slice then only ends earlier than necessary.
class ContendedBlocks {
public:
    /// Whether a block was found, and whether it was code of the kernel or of a user program.
    enum class Kind : std::uint8_t { none, kernel, user };

    /// `block`: BlockWord::id. `epoch`: number of the present epoch, from 1. `user`: the block is user code.
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

    /// A multiplicative hash, because numbers of neighbouring blocks differ in few bits.
    static std::size_t slot(std::uint64_t block) {
        return static_cast<std::size_t>(block * 0x9e37'79b9'7f4a'7c15U >> (64U - kSlotBits));
    }

    std::array<std::uint64_t, std::size_t{1} << kSlotBits> epochs_{};
};

}  // namespace s80::plugin
