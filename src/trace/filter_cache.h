// SPDX-License-Identifier: GPL-2.0-or-later
// The L1Is, or the L1Ds, of all cores, for the capture's filter. Sets with the same index are neighbours in
// memory, so that the copies in other cores, which a store invalidates, are near the ways that it examines
// first.
#pragma once
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "cache/replacement.h"
#include "machine/machine.h"

namespace s80::trace {

class FilterCaches {
public:
    static constexpr unsigned kAbsent = ~0U;

    FilterCaches(const model::CacheGeometry& g, unsigned line_bytes, model::Policy policy, unsigned cores)
        : ways_(g.ways),
          cores_(cores),
          mask_(g.sets(line_bytes) - 1),
          replacement_(cores, model::Replacement(policy, g.ways)),
          lines_(static_cast<std::size_t>(mask_ + 1) * cores * ways_, model::kNoLine),
          sets_(static_cast<std::size_t>(mask_ + 1) * cores, Set{initial(), 0, 0}) {}

    /// Index of the set in which this core's cache keeps the line.
    std::size_t set(unsigned core, model::Line line) const {
        return static_cast<std::size_t>(line & mask_) * cores_ + core;
    }
    /// Prefetches on the host what find() and touch() need.
    void host_prefetch(unsigned core, model::Line line) const {
        const std::size_t at = set(core, line);
        __builtin_prefetch(&lines_[at * ways_]);
        __builtin_prefetch(&sets_[at]);
    }

    /// The way of the set that holds the line, or kAbsent. Has no branches, because the host could not
    /// predict them.
    unsigned find(std::size_t set, model::Line line) const {
        const model::Line* const ways = &lines_[set * ways_];
        if (ways_ == 2) {  // most machines have 2 ways
            const auto second = static_cast<unsigned>(ways[1] == line);
            return second - static_cast<unsigned>((ways[0] != line) & (second == 0));
        }
        unsigned found = kAbsent;
        for (unsigned w = 0; w < ways_; ++w) {
            found = ways[w] == line ? w : found;
        }
        return found;
    }
    void touch(unsigned core, std::size_t set, unsigned way) {
        replacement_[core].touch(order(sets_[set]), way);
    }

    bool writable(std::size_t set, unsigned way) const { return (sets_[set].writable >> way & 1) != 0; }
    void allow_writes(std::size_t set, unsigned way) { sets_[set].writable |= 1U << way; }
    void forbid_writes(std::size_t set, unsigned way) { sets_[set].writable &= ~(1U << way); }

    /// Whether the next access to the line must be passed although the L1 holds the line (see L1Filter).
    bool doubtful(std::size_t set, unsigned way) const { return (sets_[set].doubtful >> way & 1) != 0; }
    void doubt(std::size_t set, unsigned way) {
        sets_[set].doubtful |= 1U << way;
        forbid_writes(set, way);
    }
    void trust(std::size_t set, unsigned way) { sets_[set].doubtful &= ~(1U << way); }

    /// Puts the line into an empty way, or else the way of the policy's victim, as the machine's L1 does. The
    /// line has no write permission. Returns the way.
    unsigned fill(unsigned core, std::size_t set, model::Line line) {
        unsigned way = 0;
        while (way < ways_ && lines_[set * ways_ + way] != model::kNoLine) {
            ++way;
        }
        if (way == ways_) {
            way = replacement_[core].victim(order(sets_[set]));
        }
        lines_[set * ways_ + way] = line;
        forbid_writes(set, way);
        trust(set, way);
        touch(core, set, way);
        return way;
    }
    void drop(std::size_t set, unsigned way) {
        lines_[set * ways_ + way] = model::kNoLine;
        forbid_writes(set, way);
    }

    /// Calls `held(set, way)` for each copy of the line in a core other than `core`. There is rarely such a
    /// copy.
    template <class Fn>
    void others(unsigned core, model::Line line, Fn&& held) const {
        const std::size_t first = set(0, line);
        const model::Line* const all = &lines_[first * ways_];
        unsigned copies = 0;
        // No branch in this loop, so that the compiler compares several lines at once.
        for (unsigned i = 0; i < cores_ * ways_; ++i) {
            copies += all[i] == line ? 1U : 0U;
        }
        for (unsigned i = 0; copies != 0; ++i) {
            if (all[i] == line) {
                --copies;
                if (i / ways_ != core) {
                    held(first + i / ways_, i % ways_);
                }
            }
        }
    }

private:
    struct Set {
        std::uint64_t order;     ///< state of the replacement policy
        std::uint32_t writable;  ///< one bit per way: the core may store without a request
        std::uint32_t doubtful;  ///< one bit per way: see doubtful()
    };
    static_assert(model::kMaxL1Ways <= model::Lru::kDigits, "the state of a set is one word");
    static std::byte* order(Set& set) { return reinterpret_cast<std::byte*>(&set.order); }
    std::uint64_t initial() const {
        Set set{};
        replacement_[0].init(order(set));
        return set.order;
    }

    unsigned ways_;
    unsigned cores_;
    model::Line mask_;
    /// By core, because the policy `random` has a state for each cache.
    std::vector<model::Replacement> replacement_;
    std::vector<model::Line> lines_;  ///< index: (set, way), where a set is that of set()
    std::vector<Set> sets_;           ///< index: the set of set()
};

}  // namespace s80::trace
