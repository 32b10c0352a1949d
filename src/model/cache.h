// SPDX-License-Identifier: GPL-2.0-or-later
// A set-associative tag array. It knows lines and ways, not coherence.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/machine.h"
#include "model/replacement.h"
#include "model/types.h"

namespace s80::model {

/// One block. In an L1 `state` is 1 when stores may go ahead; in an L2 it is the protocol's state.
struct Block {
    Line line = kNoLine;
    std::uint8_t state = 0;
    std::uint8_t fill_state = 0;  ///< StateClass at fill; none once the fate of an E block is settled
    std::uint8_t source = 0;      ///< Source that serviced the fill
    std::uint8_t stored = 0;      ///< stored to since the fill
};
static_assert(sizeof(Block) == 8);

class Cache {
public:
    Cache(const CacheGeometry& g, unsigned line_bytes, Policy policy)
        : ways_(g.ways),
          mask_(g.sets(line_bytes) - 1),
          replacement_(policy, g.ways),
          blocks_(static_cast<std::size_t>(mask_ + 1) * ways_),
          sets_(mask_ + 1, replacement_.initial()) {}

    /// The block, or null. Does not touch the replacement state.
    Block* find(Line line) {
        Block* set = &blocks_[static_cast<std::size_t>(line & mask_) * ways_];
        for (unsigned w = 0; w < ways_; ++w) {
            if (set[w].line == line) {
                return &set[w];
            }
        }
        return nullptr;
    }

    /// Has the host fetch the set of a line that will be looked for soon.
    void prefetch(Line line) const {
        __builtin_prefetch(&blocks_[static_cast<std::size_t>(line & mask_) * ways_]);
        __builtin_prefetch(&sets_[line & mask_]);
    }

    void touch(const Block* block) {
        const auto at = static_cast<std::size_t>(block - blocks_.data());
        const auto set = static_cast<std::size_t>(block->line & mask_);
        replacement_.touch(sets_[set], static_cast<unsigned>(at - set * ways_));
    }

    /// The way in which `line` is to be put: an empty one, or the policy's victim (still filled).
    Block* place(Line line) {
        const auto set = static_cast<std::size_t>(line & mask_);
        Block* first = &blocks_[set * ways_];
        for (unsigned w = 0; w < ways_; ++w) {
            if (first[w].line == kNoLine) {
                return &first[w];
            }
        }
        return &first[replacement_.victim(sets_[set])];
    }

    /// The blocks among which a line is looked for.
    std::span<const Block> set(Line line) const {
        return {&blocks_[static_cast<std::size_t>(line & mask_) * ways_], ways_};
    }

    bool drop(Line line) {
        Block* block = find(line);
        if (block == nullptr) {
            return false;
        }
        *block = Block{};
        return true;
    }

    std::vector<Block>& blocks() { return blocks_; }
    const std::vector<Block>& blocks() const { return blocks_; }
    std::vector<std::uint64_t>& sets() { return sets_; }
    Replacement& replacement() { return replacement_; }

private:
    unsigned ways_;
    Line mask_;
    Replacement replacement_;
    std::vector<Block> blocks_;
    std::vector<std::uint64_t> sets_;
};

}  // namespace s80::model
