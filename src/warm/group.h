// SPDX-License-Identifier: GPL-2.0-or-later
// A group: all lines whose numbers are equal modulo the number of sets of the smaller L1. Lines of two groups
// share no set of any cache, so the groups of a state are rebuilt one by one.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "warm/contents.h"

namespace s80::replay {

/// Sets of the caches, and the dummy lines beyond the guest's memory.
class Layout {
public:
    /// Throws model::Error if the machine's geometry, policy or L2 organisation is not supported.
    Layout(const model::Machine& machine, std::size_t lines);

    unsigned cores = 0;
    unsigned sets_l1i = 0, sets_l1d = 0, sets_l2 = 0;
    unsigned ways_l1i = 0, ways_l1d = 0;
    unsigned groups = 0;
    /// Number of groups that are rebuilt at the same time, which is the number of sets of the spare cores'
    /// caches.
    unsigned vcpus = 0;

    /// A dummy line of an L1's set: it pushes other lines of the set to the L2. number: below the ways.
    model::Line pusher(model::Line set, unsigned number) const { return base_ + number * stride_ + set; }
    /// Dummy lines that push all lines of a group out of a spare core. number: 0 or 1.
    model::Line flusher(unsigned group, unsigned number) const {
        return base_ + (ways_ + number) * stride_ + group;
    }
    /// One of three lines of one direct-mapped set of a spare core: if accessed in turn, each access misses.
    model::Line pacer(unsigned number) const { return base_ + (ways_ + 2) * stride_ + number % 3 * vcpus; }
    /// A line of another set of the spare core than pacer(). Its accesses hit, except the first one.
    model::Line bystander() const { return pacer(2) + 1; }
    /// The lines that a hierarchy with the dummy lines needs.
    std::size_t lines() const { return std::size_t{bystander()} + 1; }

private:
    model::Line base_ = 0;
    unsigned ways_ = 0;
    unsigned stride_ = 0;
};

/// The states of the protocol `hammer` by their meaning. Throws model::Error for another protocol.
struct Names {
    explicit Names(const model::Protocol& protocol);
    model::State mm, d, o, oc, s;
    /// Whether the state is that of an owner whose block other cores have read.
    bool shareable(model::State state) const { return state == o || state == oc; }
};

struct Wanted {
    unsigned core = 0;
    Place place = Place::l2;
    Copy copy;
};

/// The wanted contents of one group.
struct Group {
    Group(const Layout& layout, const Names& names, unsigned number, const model::Hierarchy& state);

    using Sets = std::unordered_map<model::Line, std::vector<Copy>>;  ///< by set, the oldest line first
    struct PerCore {
        Sets l1i, l1d, l2;
    };
    unsigned number;
    std::vector<PerCore> cores;
    std::unordered_map<model::Line, Wanted> owners;
    std::unordered_map<model::Line, std::vector<Wanted>> sharers;  ///< copies in S
};

}  // namespace s80::replay
