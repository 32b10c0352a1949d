// SPDX-License-Identifier: GPL-2.0-or-later
// The floor of this data structure: the tags that a replay looks at, in the same order, and nothing else.
#pragma once
#include <cstdint>
#include <vector>

#include "bench/captures.h"
#include "memory/home/sharers.h"

namespace s80::bench {

/// Notes what is played; then walks it: for each access the search of its set in the L1, and where the L1 did
/// not satisfy it, the search of its set in the L2 and the word of its sharers. No state changes, no
/// statistics, no merging of streams.
class TagWalk final : public model::Observer {
public:
    TagWalk(model::Hierarchy& hierarchy, std::uint64_t lines)
        : hierarchy_(hierarchy), sharers_(lines, hierarchy.machine().cores()) {}

    void event(unsigned processor, const model::Event& event, std::int64_t clock) override;
    void end(const model::Epoch&) override {}

    std::size_t accesses() const { return accesses_.size(); }
    /// Something that depends on every search.
    std::uint64_t walk() const;

private:
    struct Access {
        model::Line line;
        std::uint8_t core;
        model::Kind kind;
        bool beyond_l1;
    };
    model::Hierarchy& hierarchy_;
    model::Sharers sharers_;  ///< of the same shape as the hierarchy's
    std::vector<Access> accesses_;
};

}  // namespace s80::bench
