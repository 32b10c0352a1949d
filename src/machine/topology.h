// SPDX-License-Identifier: GPL-2.0-or-later
// Distances in the machine. Only this class and the parser of machine files know the table [latency].
#pragma once
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "machine/machine.h"

namespace s80::model {

/// Latencies in cycles, in addition to the base cycles. A node is a core or, as a supplier, a group cache.
/// Today all pairs of nodes have the same distance. Callers name both nodes nevertheless, because on chips
/// with several dies the distances differ.
class Topology {
public:
    explicit Topology(const Machine& machine) : latency_(machine.cores(), machine.latency) {}

    /// The core's caches beyond the L1 have the data.
    unsigned l2_hit(unsigned core) const { return latency_[core].l2_hit; }
    /// The group cache of the core sends the data.
    unsigned group(unsigned core) const { return latency_[core].group; }
    /// The last-level cache sends the data.
    unsigned llc(unsigned core) const { return latency_[core].llc; }
    /// Memory sends the data.
    unsigned memory(unsigned core) const { return latency_[core].memory; }
    /// The caches of core `supplier`, or that group cache, send the data.
    unsigned transfer(unsigned core, [[maybe_unused]] unsigned supplier) const {
        return latency_[core].cache;
    }
    /// The core has the data and gets the permission to store.
    unsigned upgrade(unsigned core) const { return latency_[core].upgrade; }

    /// Multiplies all latencies of a core.
    void slow_down(unsigned core, unsigned factor) { latency_[core] *= factor; }

private:
    std::vector<Latency> latency_;  ///< by core
};

}  // namespace s80::model
