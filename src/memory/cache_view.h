// SPDX-License-Identifier: GPL-2.0-or-later
// Read-only view of all caches, for code that reports or compares their contents. The memory hierarchy alone
// changes them.
#pragma once
#include <vector>

#include "coherence/protocol.h"
#include "memory/core_caches.h"
#include "memory/home/sharers.h"

namespace s80::model {

class CacheView {
public:
    /// The view is valid as long as its arguments.
    CacheView(const std::vector<CoreCaches>& cores, const Protocol& protocol, const Sharers& sharers)
        : cores_(cores), protocol_(protocol), sharers_(sharers) {}

    /// Of the cores, and after them of the group caches.
    unsigned cores() const { return static_cast<unsigned>(cores_.size()); }
    const CoreCaches& core(unsigned core) const { return cores_[core]; }

    /// The state of a line in a core's caches; the invalid state if they do not hold the line.
    State state(unsigned core, Line line) const;
    bool in_l1(unsigned core, Line line, bool instruction) const;
    bool in_l2(unsigned core, Line line) const;
    bool l1_writable(unsigned core, Line line) const;
    /// The cores and group caches that hold the line.
    CoreSet sharers(Line line) const { return sharers_.cores(line); }

private:
    const std::vector<CoreCaches>& cores_;
    const Protocol& protocol_;
    const Sharers& sharers_;
};

}  // namespace s80::model
