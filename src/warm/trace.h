// SPDX-License-Identifier: GPL-2.0-or-later
// The trace that rebuilds a whole state. It interleaves the plans of all groups; the function that makes it
// plays it once to prove it.
#pragma once
#include <string>
#include <vector>

#include "replay/order.h"
#include "warm/plan.h"

namespace s80::replay {

struct WarmTrace {
    /// Access::processor is the number of a core; spare cores have numbers after the machine's cores.
    std::vector<Access> accesses;
    std::size_t lines = 0;     ///< size of the memory in lines, with the dummy lines
    unsigned spare_sets = 0;   ///< number of sets of each cache of a spare core
    std::uint64_t pauses = 0;  ///< number of accesses that the pacer makes
    /// Number of lines with copies in S, but without an owner and without assumed sharers: a device has read
    /// them. rebuild() has changed `state` so that memory assumes sharers of these lines.
    std::uint64_t assumed = 0;
};

/// Returns a trace which, played from cold caches, ends in `state`. Throws model::Error if there is none.
WarmTrace rebuild(const model::Machine& machine, model::Hierarchy& state);

}  // namespace s80::replay
