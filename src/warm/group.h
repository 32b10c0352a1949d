// SPDX-License-Identifier: GPL-2.0-or-later
// A group is the set of all lines whose numbers are equal modulo the number of sets of the smaller L1. Lines
// of two groups are never in the same set of a cache, so the state of each group can be rebuilt by itself.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "warm/contents.h"

namespace s80::replay {

/// Sizes of the caches, and numbers of the dummy lines, which are above the guest's memory.
class Layout {
public:
    /// `lines`: size of the guest's memory. Throws model::Error if the machine's geometry, policy or L2
    /// organisation is not supported.
    Layout(const model::Machine& machine, std::size_t lines);

    unsigned cores = 0;
    unsigned sets_l1i = 0, sets_l1d = 0, sets_l2 = 0;
    unsigned ways_l1i = 0, ways_l1d = 0;
    unsigned groups = 0;
    /// Number of groups that are rebuilt at the same time. It is also the number of sets of the spare cores'
    /// caches.
    unsigned vcpus = 0;

    /// A dummy line of this L1 set, which pushes other lines of the set to the L2. `number`: from 0, below
    /// the number of ways.
    model::Line pusher(model::Line set, unsigned number) const { return base_ + number * stride_ + set; }
    /// A dummy line which pushes the lines of a group out of a spare core. `number`: 0 or 1.
    model::Line flusher(unsigned group, unsigned number) const {
        return base_ + (ways_ + number) * stride_ + group;
    }
    /// One of three dummy lines in the same direct-mapped set of a spare core: if they are accessed in turn,
    /// each access misses.
    model::Line pacer(unsigned number) const { return base_ + (ways_ + 2) * stride_ + number % 3 * vcpus; }
    /// A dummy line in another set of the spare core than pacer(): all accesses but the first hit.
    model::Line bystander() const { return pacer(2) + 1; }
    /// The number of lines that a memory with the dummy lines has.
    std::size_t lines() const { return std::size_t{bystander()} + 1; }

private:
    model::Line base_ = 0;
    unsigned ways_ = 0;
    unsigned stride_ = 0;
};

/// The states of the protocol `hammer`, named by their meaning. Throws model::Error if the protocol is
/// another one.
struct Names {
    explicit Names(const model::Protocol& protocol);
    model::State mm, d, o, oc, s;
    /// Whether this is the state of an owner whose block other cores have read.
    bool shareable(model::State state) const { return state == o || state == oc; }
};

struct Wanted {
    unsigned core = 0;
    Place place = Place::l2;
    Copy copy;
};

/// The contents of one group that are to be rebuilt.
struct Group {
    Group(const Layout& layout, const Names& names, unsigned number, const model::Hierarchy& state);

    /// Lines by set, the least recently used first.
    using Sets = std::unordered_map<model::Line, std::vector<Copy>>;
    struct PerCore {
        Sets l1i, l1d, l2;
    };
    unsigned number;
    std::vector<PerCore> cores;
    std::unordered_map<model::Line, Wanted> owners;
    std::unordered_map<model::Line, std::vector<Wanted>> sharers;  ///< copies in state S, by line
};

}  // namespace s80::replay
