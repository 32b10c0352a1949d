// SPDX-License-Identifier: GPL-2.0-or-later
// Data about a translated block, known before it runs.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "base/types.h"
#include "stream/counts.h"

namespace s80::plugin {

/// Data of a block. They fit into one line of the host's cache, because each use of them is likely to miss
/// there.
struct alignas(64) Block {
    std::uint16_t instructions = 0;
    std::uint8_t privilege = 0;
    model::KernelEntry entered = model::KernelEntry::user;  ///< kernel entry cause of its first instruction
    /// Virtual address, if the log of misses or the profile needs it; otherwise 0.
    std::uint64_t address = 0;
    std::uint16_t next = 0;  ///< page offset after its last instruction, if `address` is used
    /// Number of lines of code in each of at most two pages. The lines of a page are consecutive, from
    /// `first` on.
    std::array<std::uint8_t, 2> lines{};
    std::array<model::Line, 2> first{};
    std::array<std::uint16_t, model::kInstructionClasses> classes{};
};

/// A block that fits into a word, with its virtual address. Blocks that are translated one after the other
/// often run one after the other: four of them fit into one line of the host's cache.
struct NamedBlock {
    void* word;
    std::uint64_t address;
};

/// Some bits of a word.
struct BitField {
    unsigned shift;
    std::uint64_t mask;
    constexpr BitField(unsigned s, unsigned bits) : shift(s), mask((std::uint64_t{1} << bits) - 1) {}
    constexpr std::uint64_t put(std::uint64_t v) const { return v << shift; }
    constexpr std::uint64_t get(std::uint64_t w) const { return w >> shift & mask; }
};

/// The argument of a block's callback. Almost every block fits into the word itself, so that its execution
/// needs no further access of memory: there are hundreds of thousands of blocks, and each such access would
/// miss in the host's caches. For the other blocks the word is a pointer: to a Block, or to a NamedBlock if
/// the blocks need addresses. A block has at most one branch, which ends it.
class BlockWord {
public:
    explicit BlockWord(void* word) : word_(reinterpret_cast<std::uintptr_t>(word)) {}
    /// The block without its address. Nothing if it does not fit.
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

    /// Whether it points to a packed word with an address.
    bool named() const { return (word_ & 3) == kNamed; }
    const NamedBlock& named_block() const { return *reinterpret_cast<const NamedBlock*>(word_ ^ kNamed); }
    /// The word that has the counts, or points to a block that has them.
    BlockWord counts() const { return named() ? BlockWord(named_block().word) : *this; }

    // Of a word without an address:
    /// A number of the block that is the same in each run of a guest. Blocks that begin in the same line may
    /// share a number.
    std::uint64_t id() const {
        return packed() ? id(line(), instructions()) : id(block().first[0], block().instructions);
    }
    bool packed() const { return (word_ & 1) != 0; }
    const Block& block() const { return *reinterpret_cast<const Block*>(word_); }

    // Of a packed block:
    unsigned privilege() const { return static_cast<unsigned>(kPrivilege.get(word_)); }
    std::uint64_t instructions() const { return kCount.get(word_); }
    model::Line line() const { return static_cast<model::Line>(kLine.get(word_)); }
    unsigned extra_lines() const { return static_cast<unsigned>(kExtraLines.get(word_)); }
    /// Loads; classes other than those counted are `other`, the remainder.
    std::uint64_t loads() const { return kLoads.get(word_); }
    std::uint64_t stores() const { return kStores.get(word_); }
    std::uint64_t both() const { return kBoth.get(word_); }
    std::uint64_t conditional() const { return kConditional.get(word_); }
    std::uint64_t unconditional() const { return kUnconditional.get(word_); }

private:
    static constexpr std::uint64_t kNamed = 2;  // an address has zeros in these bits, a packed word a one
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
