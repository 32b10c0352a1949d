// SPDX-License-Identifier: GPL-2.0-or-later
// A set-associative tag array. It knows lines and ways, not coherence.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/machine.h"
#include "model/replacement.h"
#include "model/types.h"

namespace s80::model {

/// What a cache knows of a line beside its tag. A block in an L1 under an inclusive L2 uses `writable` alone.
struct Block {
    std::uint8_t state = 0;         ///< the protocol's
    bool writable : 1 = false;      ///< stores may go ahead
    bool entered_in_e : 1 = false;  ///< and has stayed in E: its fate is open
    /// In an inclusive L2: an L1I, an L1D has held it since it entered; where none has, none need be
    /// searched.
    bool was_in_l1i : 1 = false;
    bool was_in_l1d : 1 = false;
};
static_assert(sizeof(Block) == 2);

/// All that a look at a set needs lies together, so that it costs one line of the host's cache: the
/// replacement state (32 bits, or 64 for more than 8 ways), the tags, the blocks; padded to a power of two.
class Cache {
public:
    /// One way of one set. Valid as long as the cache.
    struct Slot {
        std::byte* set = nullptr;
        unsigned way = 0;
        explicit operator bool() const { return set != nullptr; }
    };

    /// The memory that a cache of this shape needs.
    static std::size_t bytes(const CacheGeometry& g, unsigned line_bytes) {
        return g.sets(line_bytes) * stride(g.ways);
    }

    /// `memory`: that many bytes, aligned to the host's cache lines, which outlive the cache.
    Cache(const CacheGeometry& g, unsigned line_bytes, Policy policy, std::byte* memory)
        : memory_(memory),
          mask_(g.sets(line_bytes) - 1),
          shift_(static_cast<unsigned>(std::countr_zero(stride(g.ways)))),
          ways_(g.ways),
          tags_at_(order_bytes(g.ways)),
          blocks_at_(tags_at_ + g.ways * static_cast<unsigned>(sizeof(Line))),
          replacement_(policy, g.ways) {
        for (Line set = 0; set <= mask_; ++set) {
            set_order(set_of(set), replacement_.initial());
            for (unsigned way = 0; way < ways_; ++way) {
                line(Slot{set_of(set), way}) = kNoLine;
            }
        }
    }

    unsigned ways() const { return ways_; }

    /// The slot that holds the line, or none. Does not touch the replacement state.
    Slot find(Line line) const {
        std::byte* set = set_of(line);
        const unsigned way = find_in(tags(set), line);
        return {way == kAbsent ? nullptr : set, way};
    }
    /// A way of the line's set, whatever is in it.
    Slot at(Line line, unsigned way) const { return {set_of(line), way}; }
    /// Where `line` is to be put: an empty way, or the policy's victim (still filled).
    Slot place(Line line) {
        std::byte* set = set_of(line);
        const unsigned empty = find_in(tags(set), kNoLine);
        return {set, empty != kAbsent ? empty : replacement_.victim(order(set))};
    }

    /// The line that `place` would have to push out, as far as that is known before; or kNoLine.
    Line next_victim(Line line) const {
        const std::byte* set = set_of(line);
        return replacement_.foreseeable() ? tags(set)[replacement_.next_victim(order(set))] : kNoLine;
    }

    Line& line(Slot slot) const { return tags(slot.set)[slot.way]; }
    Block& block(Slot slot) const { return reinterpret_cast<Block*>(slot.set + blocks_at_)[slot.way]; }

    void put(Slot slot, Line line, Block block) const {
        this->line(slot) = line;
        this->block(slot) = block;
    }
    void touch(Slot slot) const {
        std::uint64_t state = order(slot.set);
        replacement_.touch(state, slot.way);
        set_order(slot.set, state);
    }
    void drop(Slot slot) const { put(slot, kNoLine, Block{}); }
    /// Where the line is not, nothing happens.
    void drop(Line line) const {
        if (const Slot slot = find(line)) {
            drop(slot);
        }
    }

    /// Has the host fetch the set of a line that will be looked for soon.
    [[gnu::always_inline]] void prefetch(Line line) const { __builtin_prefetch(set_of(line), 1); }

    /// Calls `fn(line)` for every line that is held.
    template <class Fn>
    void each_line(Fn&& fn) const {
        for (Line set = 0; set <= mask_; ++set) {
            for (unsigned way = 0; way < ways_; ++way) {
                if (const Line held = line(at(set, way)); held != kNoLine) {
                    fn(held);
                }
            }
        }
    }

    /// The whole contents, to be kept in a file.
    std::span<std::byte> contents() const { return {memory_, static_cast<std::size_t>(mask_ + 1) << shift_}; }
    Replacement& replacement() { return replacement_; }

private:
    static constexpr unsigned kAbsent = ~0U;

    static unsigned order_bytes(unsigned ways) { return ways <= 8 ? 4 : 8; }
    static std::size_t stride(unsigned ways) {
        return std::bit_ceil(order_bytes(ways) + ways * (sizeof(Line) + sizeof(Block)));
    }

    std::byte* set_of(Line line) const {
        return memory_ + (static_cast<std::size_t>(line & mask_) << shift_);
    }
    Line* tags(std::byte* set) const { return reinterpret_cast<Line*>(set + tags_at_); }
    const Line* tags(const std::byte* set) const { return reinterpret_cast<const Line*>(set + tags_at_); }

    std::uint64_t order(const std::byte* set) const {
        return ways_ <= 8 ? *reinterpret_cast<const std::uint32_t*>(set)
                          : *reinterpret_cast<const std::uint64_t*>(set);
    }
    void set_order(std::byte* set, std::uint64_t order) const {
        if (ways_ <= 8) {
            *reinterpret_cast<std::uint32_t*>(set) = static_cast<std::uint32_t>(order);
        } else {
            *reinterpret_cast<std::uint64_t*>(set) = order;
        }
    }

    /// The first way with that tag. The usual numbers of ways are searched without a branch: which way it is
    /// cannot be predicted.
    unsigned find_in(const Line* tags, Line line) const {
        switch (ways_) {
            case 2: return find_among<2>(tags, line);
            case 4: return find_among<4>(tags, line);
            case 8: return find_among<8>(tags, line);
            default: break;
        }
        for (unsigned way = 0; way < ways_; ++way) {
            if (tags[way] == line) {
                return way;
            }
        }
        return kAbsent;
    }
    template <unsigned kWays>
    static unsigned find_among(const Line* tags, Line line) {
        unsigned found = kAbsent;
        for (unsigned way = kWays; way-- != 0;) {
            found = tags[way] == line ? way : found;
        }
        return found;
    }

    std::byte* memory_;
    Line mask_;
    unsigned shift_;  ///< of a set's number to its place
    unsigned ways_;
    unsigned tags_at_;
    unsigned blocks_at_;
    Replacement replacement_;
};

}  // namespace s80::model
