// SPDX-License-Identifier: GPL-2.0-or-later
// Data about a block of instructions that QEMU has translated. They are known before the block is executed.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "base/types.h"
#include "stream/counts.h"

namespace s80::plugin {

/// Counts and lines of a block. The structure fits into one line of the host's cache, because there are so
/// many blocks that each use of one is likely to miss in that cache.
struct alignas(64) Block {
    std::uint16_t instructions = 0;
    std::uint8_t privilege = 0;
    /// Kernel entry cause of the block's first instruction; `user`: the block does not enter the kernel.
    model::KernelEntry entered = model::KernelEntry::user;
    /// Virtual address of the block if the log of misses or the profile needs it; otherwise 0.
    std::uint64_t address = 0;
    std::uint16_t next = 0;  ///< page offset of the first byte after the block; valid if `address` is
    /// The block's code lies in at most two pages. For each page: the number of consecutive lines with its
    /// code, and the first of these lines (physical).
    std::array<std::uint8_t, 2> lines{};
    std::array<model::Line, 2> first{};
    std::array<std::uint16_t, model::kInstructionClasses> classes{};
};

/// A block whose counts fit into a BlockWord, together with its virtual address. Blocks that are translated
/// one after the other are often executed one after the other, so four of them share a line of the host's
/// cache.
struct NamedBlock {
    void* word;
    std::uint64_t address;
};

/// A field of a 64-bit word: `bits` bits from bit `shift` on.
struct BitField {
    unsigned shift;
    std::uint64_t mask;
    constexpr BitField(unsigned s, unsigned bits) : shift(s), mask((std::uint64_t{1} << bits) - 1) {}
    constexpr std::uint64_t put(std::uint64_t v) const { return v << shift; }
    constexpr std::uint64_t get(std::uint64_t w) const { return w >> shift & mask; }
};

/// The user-data argument that QEMU passes to the callback of a block. Nearly every block is packed into the
/// word itself, so that its callback reads no memory: with hundreds of thousands of blocks, each such read
/// would miss in the host's caches. For the other blocks the word is a pointer to a Block, or to a NamedBlock
/// if addresses of blocks are needed. A block has at most one branch, at its end.
class BlockWord {
public:
    explicit BlockWord(void* word) : word_(reinterpret_cast<std::uintptr_t>(word)) {}
    /// Packs the block without its address. Returns nothing if a field is too large for its bits.
    static std::optional<BlockWord> pack(const Block& b) {
        using enum model::InstructionClass;
        const auto count = [&](model::InstructionClass c) {
            return static_cast<std::uint64_t>(b.classes[static_cast<unsigned>(c)]);
        };
        if (b.entered != model::KernelEntry::user || b.instructions > kCount.mask || b.lines[0] == 0 ||
            b.lines[0] - 1U > kExtraLines.mask || b.lines[1] != 0 || b.first[0] > kLine.mask ||
            count(load) > kLoads.mask || count(store) > kStores.mask || count(load_store) > kBoth.mask ||
            count(branch_conditional) > 1 || count(branch_unconditional) > 1) {
            return std::nullopt;
        }
        return BlockWord(1 | kPrivilege.put(b.privilege) | kCount.put(b.instructions) |
                         kExtraLines.put(b.lines[0] - 1U) | kLine.put(b.first[0]) | kLoads.put(count(load)) |
                         kStores.put(count(store)) | kBoth.put(count(load_store)) |
                         kConditional.put(count(branch_conditional)) |
                         kUnconditional.put(count(branch_unconditional)));
    }
    static BlockWord point_to(const Block& b) { return BlockWord(const_cast<Block*>(&b)); }
    static BlockWord point_to(const NamedBlock& b) {
        return BlockWord(reinterpret_cast<std::uintptr_t>(&b) | kNamed);
    }
    void* word() const { return reinterpret_cast<void*>(word_); }

    /// Whether this word points to a NamedBlock, that is, to a packed word and an address.
    bool named() const { return (word_ & 3) == kNamed; }
    const NamedBlock& named_block() const { return *reinterpret_cast<const NamedBlock*>(word_ ^ kNamed); }
    /// This word without the block's address: a packed word, or a pointer to a Block.
    BlockWord counts() const { return named() ? BlockWord(named_block().word) : *this; }

    // --- only for a word that is packed or points to a Block ---
    /// Identifies the block by its first line and its number of instructions, so that it is the same number
    /// in each run of a guest. Two blocks that begin in the same line may have the same number.
    std::uint64_t id() const {
        return packed() ? id(line(), instructions()) : id(block().first[0], block().instructions);
    }
    bool packed() const { return (word_ & 1) != 0; }
    const Block& block() const { return *reinterpret_cast<const Block*>(word_); }

    // --- only for a packed word ---
    unsigned privilege() const { return static_cast<unsigned>(kPrivilege.get(word_)); }
    std::uint64_t instructions() const { return kCount.get(word_); }
    model::Line line() const { return static_cast<model::Line>(kLine.get(word_)); }
    unsigned extra_lines() const { return static_cast<unsigned>(kExtraLines.get(word_)); }
    /// Instructions that only load. Instructions that are in none of the classes counted here are of class
    /// `other`.
    std::uint64_t loads() const { return kLoads.get(word_); }
    std::uint64_t stores() const { return kStores.get(word_); }
    std::uint64_t both() const { return kBoth.get(word_); }
    std::uint64_t conditional() const { return kConditional.get(word_); }
    std::uint64_t unconditional() const { return kUnconditional.get(word_); }

private:
    // Marks a pointer to a NamedBlock. Bit 0 is set in packed words only; a pointer to a Block has zeros in
    // both bits.
    static constexpr std::uint64_t kNamed = 2;
    explicit BlockWord(std::uint64_t word) : word_(word) {}
    static std::uint64_t id(model::Line first, std::uint64_t instructions) {
        constexpr unsigned kCountBits = 16;
        return std::uint64_t{first} << kCountBits | instructions;
    }
    static constexpr BitField kPrivilege{1, 1};
    static constexpr BitField kConditional{2, 1};
    static constexpr BitField kUnconditional{3, 1};
    static constexpr BitField kExtraLines{4, 2};
    static constexpr BitField kCount{6, 7};
    static constexpr BitField kLoads{13, 6};
    static constexpr BitField kStores{19, 6};
    static constexpr BitField kBoth{25, 4};
    static constexpr BitField kLine{29, 35};
    std::uint64_t word_;
};

}  // namespace s80::plugin
