// SPDX-License-Identifier: GPL-2.0-or-later
// The L1s of one kind of all cores, stored set by set: the copies that an access invalidates in other cores
// are adjacent to the ways that the access itself examines.
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

    /// Index of the set of the line in one core's cache.
    std::size_t set(unsigned core, model::Line line) const {
        return static_cast<std::size_t>(line & mask_) * cores_ + core;
    }
    /// Host prefetch of the data that is needed first.
    void host_prefetch(unsigned core, model::Line line) const {
        const std::size_t at = set(core, line);
        __builtin_prefetch(&lines_[at * ways_]);
        __builtin_prefetch(&sets_[at]);
    }

    /// The way of the set that holds the line, or kAbsent. Without branches, because the way cannot be
    /// predicted.
    unsigned find(std::size_t set, model::Line line) const {
        const model::Line* const ways = &lines_[set * ways_];
        if (ways_ == 2) {  // the usual case
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

    /// Whether the next access to the line must be passed although the line is present.
    bool doubtful(std::size_t set, unsigned way) const { return (sets_[set].doubtful >> way & 1) != 0; }
    void doubt(std::size_t set, unsigned way) {
        sets_[set].doubtful |= 1U << way;
        forbid_writes(set, way);
    }
    void trust(std::size_t set, unsigned way) { sets_[set].doubtful &= ~(1U << way); }

    /// Puts the line into an empty way or into that of the policy's victim, without write permission, like
    /// the machine's L1.
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

    /// Calls `held(set, way)` for all copies except those of `core`. There is rarely one.
    template <class Fn>
    void others(unsigned core, model::Line line, Fn&& held) const {
        const std::size_t first = set(0, line);
        const model::Line* const all = &lines_[first * ways_];
        unsigned copies = 0;
        for (unsigned i = 0; i < cores_ * ways_; ++i) {  // no branch: the compiler compares several at once
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
        std::uint64_t order;     ///< the replacement policy's
        std::uint32_t writable;  ///< one bit per way
        std::uint32_t doubtful;  ///< one bit per way
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
    /// By core, because each core's cache has a state of policy `random`.
    std::vector<model::Replacement> replacement_;
    std::vector<model::Line> lines_;  ///< by set, core and way
    std::vector<Set> sets_;           ///< by set and core
};

}  // namespace s80::trace
