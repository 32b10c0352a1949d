// SPDX-License-Identifier: GPL-2.0-or-later
// The L1s of one kind of all cores, laid out set by set: an access by one core looks at its own ways, and
// what it takes away from the others lies beside them.
#pragma once
#include <cstdint>
#include <vector>

#include "model/machine.h"
#include "model/replacement.h"
#include "model/types.h"

namespace s80::trace {

class FilterCaches {
public:
    FilterCaches(const model::CacheGeometry& g, unsigned line_bytes, model::Policy policy, unsigned cores)
        : ways_(g.ways),
          cores_(cores),
          mask_(g.sets(line_bytes) - 1),
          replacement_(cores, model::Replacement(policy, g.ways)),
          lines_(static_cast<std::size_t>(mask_ + 1) * cores * ways_, model::kNoLine),
          order_(static_cast<std::size_t>(mask_ + 1) * cores, replacement_[0].initial()),
          writable_(order_.size(), 0) {}

    static constexpr unsigned kAbsent = ~0U;

    /// The way in which a core holds the line, or kAbsent.
    unsigned find(unsigned core, model::Line line) const { return find_in(at(core, line), line); }
    void touch(unsigned core, model::Line line, unsigned way) {
        replacement_[core].touch(order_[at(core, line)], way);
    }

    /// Puts the line into an empty way or the policy's victim, without write permission, as the machine's L1
    /// does.
    unsigned fill(unsigned core, model::Line line) {
        const std::size_t set = at(core, line);
        unsigned way = find_in(set, model::kNoLine);
        if (way == kAbsent) {
            way = replacement_[core].victim(order_[set]);
        }
        lines_[set * ways_ + way] = line;
        writable_[set] &= static_cast<std::uint16_t>(~(1U << way));
        touch(core, line, way);
        return way;
    }

    bool writable(unsigned core, model::Line line, unsigned way) const {
        return (writable_[at(core, line)] >> way & 1) != 0;
    }
    void allow_writes(unsigned core, model::Line line, unsigned way) {
        writable_[at(core, line)] |= static_cast<std::uint16_t>(1U << way);
    }
    void forbid_writes(unsigned core, model::Line line, unsigned way) {
        writable_[at(core, line)] &= static_cast<std::uint16_t>(~(1U << way));
    }
    void drop(unsigned core, model::Line line, unsigned way) {
        lines_[at(core, line) * ways_ + way] = model::kNoLine;
        forbid_writes(core, line, way);
    }

    /// Calls `held` with core and way of every copy but those of `core`. Nearly always there is none.
    template <class Fn>
    void others(unsigned core, model::Line line, Fn&& held) const {
        const model::Line* const set = &lines_[at(0, line) * ways_];
        const unsigned n = cores_ * ways_;
        unsigned copies = 0;
        for (unsigned i = 0; i < n; ++i) {  // without a branch, so that it is done with vectors
            copies += set[i] == line ? 1U : 0U;
        }
        for (unsigned i = 0; copies != 0; ++i) {
            if (set[i] == line) {
                --copies;
                if (i / ways_ != core) {
                    held(i / ways_, i % ways_);
                }
            }
        }
    }

private:
    unsigned find_in(std::size_t set, model::Line line) const {
        const model::Line* const ways = &lines_[set * ways_];
        for (unsigned w = 0; w < ways_; ++w) {
            if (ways[w] == line) {
                return w;
            }
        }
        return kAbsent;
    }
    std::size_t at(unsigned core, model::Line line) const {
        return static_cast<std::size_t>(line & mask_) * cores_ + core;
    }

    unsigned ways_;
    unsigned cores_;
    model::Line mask_;
    std::vector<model::Replacement> replacement_;  ///< by core: `random` has a state of its own
    std::vector<model::Line> lines_;               ///< by set, core and way
    std::vector<std::uint64_t> order_;             ///< by set and core
    std::vector<std::uint16_t> writable_;          ///< by set and core, a bit a way
};

}  // namespace s80::trace
