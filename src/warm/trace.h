// SPDX-License-Identifier: GPL-2.0-or-later
// The whole trace that rebuilds a state: the plans of all groups, interleaved, and played once for proof.
#pragma once
#include <string>
#include <vector>

#include "replay/order.h"
#include "warm/plan.h"

namespace s80::replay {

struct WarmTrace {
    std::vector<Access> accesses;  ///< `processor` is the core; spare cores follow the machine's cores
    std::size_t lines = 0;         ///< of memory, with the dummy lines
    unsigned spare_sets = 0;       ///< of each cache of a spare core
    std::uint64_t pauses = 0;      ///< accesses of the pacer
    /// Lines that had copies in S, but neither an owner nor sharers that memory assumes (a device has read
    /// them). `state` was changed: memory assumes sharers of them.
    std::uint64_t assumed = 0;
};

/// Throws model::Error if the state cannot be rebuilt. The accesses, played from cold caches, end in `state`.
WarmTrace rebuild(const model::Machine& machine, model::Hierarchy& state);

}  // namespace s80::replay
