// SPDX-License-Identifier: GPL-2.0-or-later
// A set-associative tag array. It finds, places and evicts lines; it knows nothing of coherence.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/host_memory.h"
#include "base/types.h"
#include "cache/geometry.h"
#include "cache/replacement.h"

namespace s80::model {

/// What a cache knows of a line besides its tag. In an L1 under an inclusive L2, only `writable` is used.
struct Block {
    std::uint8_t state = 0;         ///< state of the coherence protocol
    bool writable : 1 = false;      ///< the core may store without a request
    bool entered_in_e : 1 = false;  ///< the block entered the core in state E, and is still in E
    /// In an inclusive L2: the L1I (L1D) has held the block since the block entered the L2. If not, an
    /// invalidation need not search that L1.
    bool was_in_l1i : 1 = false;
    bool was_in_l1d : 1 = false;
    std::uint8_t process_class : 3 = 0;  ///< class of the process that brought the block into the core
};
static_assert(sizeof(Block) == 2);

/// All data of a set are adjacent in memory, so that a look-up needs few lines of the host's cache: first the
/// tags, then the replacement state, then the blocks, padded to a power of two. Functions that every access
/// needs are force-inlined, because g++ does not inline them where an access leaves the L1.
class Cache {
public:
    /// One way of one set. Valid as long as the cache exists.
    struct Slot {
        std::byte* set = nullptr;
        unsigned way = 0;
        explicit operator bool() const { return set != nullptr; }
    };

    /// Size of the memory that such a cache needs, in bytes.
    static std::size_t bytes(const CacheGeometry& g, unsigned line_bytes, Policy policy) {
        return g.sets(line_bytes) * stride(policy, g.ways);
    }

    /// `memory`: as large as bytes() says, aligned to lines of the host's cache. It must outlive the cache.
    Cache(const CacheGeometry& g, unsigned line_bytes, Policy policy, std::byte* memory)
        : memory_(memory),
          mask_(g.sets(line_bytes) - 1),
          shift_(static_cast<unsigned>(std::countr_zero(stride(policy, g.ways)))),
          ways_(g.ways),
          order_at_(g.ways * static_cast<unsigned>(sizeof(Line))),
          blocks_at_(order_at_ + static_cast<unsigned>(Replacement::bytes(policy, g.ways))),
          two_orders_(policy == Policy::lru && g.ways == 2),
          replacement_(policy, g.ways) {
        for (Line set = 0; set <= mask_; ++set) {
            replacement_.init(order(set_of(set)));
            for (unsigned way = 0; way < ways_; ++way) {
                line(Slot{set_of(set), way}) = kNoLine;
            }
        }
    }

    unsigned ways() const { return ways_; }
    unsigned sets() const { return mask_ + 1; }

    /// The slot that holds the line; if the cache does not hold it, a slot that converts to false. Does not
    /// change the replacement state.
    [[gnu::always_inline]] Slot find(Line line) const {
        std::byte* set = set_of(line);
        const unsigned found = matches(tags(set), line);
        return found == 0 ? Slot{} : Slot{set, static_cast<unsigned>(std::countr_zero(found))};
    }
    /// This way of the set to which the line belongs. The way may hold another line, or none.
    Slot slot(Line line, unsigned way) const { return {set_of(line), way}; }
    /// Where `line` should be put: an empty way, or else the way of the policy's victim, which still holds
    /// its line.
    Slot place(Line line) {
        std::byte* set = set_of(line);
        const unsigned empty = matches(tags(set), kNoLine);
        return {set, empty != 0 ? static_cast<unsigned>(std::countr_zero(empty))
                                : replacement_.victim(order(set))};
    }

    /// The line that place() would evict. kNoLine if a way of the set is empty, or if the policy does not
    /// know its next victim.
    Line would_evict(Line line) const {
        return matches(tags(set_of(line)), kNoLine) != 0 ? kNoLine : next_victim(line);
    }
    /// The line that place() would evict if no way were empty. kNoLine if the policy does not know its next
    /// victim.
    Line next_victim(Line line) const {
        std::byte* set = set_of(line);
        return replacement_.foreseeable() ? tags(set)[replacement_.next_victim(order(set))] : kNoLine;
    }

    Line& line(Slot slot) const { return tags(slot.set)[slot.way]; }
    Block& block(Slot slot) const { return reinterpret_cast<Block*>(slot.set + blocks_at_)[slot.way]; }

    void put(Slot slot, Line line, Block block) const {
        this->line(slot) = line;
        this->block(slot) = block;
    }
    /// Tells the replacement policy that an access has hit the slot.
    [[gnu::always_inline]] void touch(Slot slot) const {
        if (two_orders_) {
            touch_one_of_two(slot);
            return;
        }
        replacement_.touch(order(slot.set), slot.way);
    }
    /// Tells the replacement policy that a line has been put into the slot.
    [[gnu::always_inline]] void filled(Slot slot) const {
        if (two_orders_) {
            touch_one_of_two(slot);
            return;
        }
        replacement_.fill(order(slot.set), slot.way);
    }
    void drop(Slot slot) const { put(slot, kNoLine, Block{}); }
    /// Removes the line. Does nothing if the cache does not hold it.
    void drop(Line line) const {
        if (const Slot slot = find(line)) {
            drop(slot);
        }
    }

    /// Prefetches the tags of the line's set on the host.
    void host_prefetch(Line line) const { model::host_prefetch(set_of(line)); }
    /// Like host_prefetch, for a cache whose sets need several lines of the host's cache: also prefetches the
    /// replacement state.
    void host_prefetch_set(Line line) const {
        host_prefetch(line);
        model::host_prefetch(order(set_of(line)));
    }

    /// Calls `fn(line)` for each line in the cache.
    template <class Fn>
    void each_line(Fn&& fn) const {
        for (Line set = 0; set <= mask_; ++set) {
            for (unsigned way = 0; way < ways_; ++way) {
                if (const Line held = line(slot(set, way)); held != kNoLine) {
                    fn(held);
                }
            }
        }
    }

    /// Calls `fn(slot)` for each filled way of the line's set, the least recently used first. Only with the
    /// policy lru.
    template <class Fn>
    void each_oldest_first(Line line, Fn&& fn) const {
        const std::byte* const order = this->order(set_of(line));
        for (unsigned newer = ways_; newer-- > 0;) {
            const Slot slot = this->slot(line, Lru::way_by_recency(order, ways_, newer));
            if (this->line(slot) != kNoLine) {
                fn(slot);
            }
        }
    }

    /// All memory of the cache, for a checkpoint.
    std::span<std::byte> contents() const { return {memory_, static_cast<std::size_t>(mask_ + 1) << shift_}; }
    Replacement& replacement() { return replacement_; }
    const Replacement& replacement() const { return replacement_; }

private:
    static std::size_t stride(Policy policy, unsigned ways) {
        return std::bit_ceil(Replacement::bytes(policy, ways) + ways * (sizeof(Line) + sizeof(Block)));
    }

    std::byte* set_of(Line line) const {
        return memory_ + (static_cast<std::size_t>(line & mask_) << shift_);
    }
    static Line* tags(std::byte* set) { return reinterpret_cast<Line*>(set); }

    std::byte* order(std::byte* set) const { return set + order_at_; }

    /// Updates the LRU order of a set with two ways. Has no branch, because the host could not predict it.
    [[gnu::always_inline]] void touch_one_of_two(Slot slot) const {
        const std::uint32_t order = slot.way == 0 ? 0x10 : 0x01;
        std::memcpy(slot.set + order_at_, &order, sizeof order);
    }

    /// The ways with this tag, one bit each. The most frequent associativities are searched without branches,
    /// because the host could not predict them.
    [[gnu::always_inline]] unsigned matches(const Line* tags, Line line) const {
        if (ways_ == 2) {
            return matches_of<2>(tags, line);
        }
        if (ways_ == 4) {
            return matches_of<4>(tags, line);
        }
        if (ways_ == 8) {
            return matches_of<8>(tags, line);
        }
        unsigned found = 0;
        for (unsigned way = 0; way < ways_; ++way) {
            found |= (tags[way] == line ? 1U : 0U) << way;
        }
        return found;
    }
    template <unsigned kWays>
    static unsigned matches_of(const Line* tags, Line line) {
        unsigned found = 0;
#ifdef __SSE2__
        if constexpr (kWays % 4 == 0) {  // SSE2, which g++ does not use here by itself
            const __m128i wanted = _mm_set1_epi32(static_cast<int>(line));
            for (unsigned way = 0; way < kWays; way += 4) {
                const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags + way));
                const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted)));
                found |= static_cast<unsigned>(equal) << way;
            }
            return found;
        }
#endif
        for (unsigned way = 0; way < kWays; ++way) {
            found |= static_cast<unsigned>(tags[way] == line) << way;
        }
        return found;
    }

    std::byte* memory_;
    Line mask_;
    unsigned shift_;  ///< log2 of the distance between two sets in memory
    unsigned ways_;
    unsigned order_at_;  ///< offset of the replacement state in a set, in bytes
    unsigned blocks_at_;
    bool two_orders_;  ///< the policy is lru and a set has two ways, for which touch() has a fast path
    Replacement replacement_;
};

}  // namespace s80::model
