// SPDX-License-Identifier: GPL-2.0-or-later
#include "warm/group.h"

#include <algorithm>

namespace s80::replay {

using model::Error;
using model::Line;

namespace {

constexpr unsigned kMostLanes = 64;

}  // namespace

Layout::Layout(const model::Machine& machine, std::size_t lines)
    : cores(machine.cores()),
      sets_l1i(machine.l1i.sets(machine.line_bytes)),
      sets_l1d(machine.l1d.sets(machine.line_bytes)),
      sets_l2(machine.l2.sets(machine.line_bytes)),
      ways_l1i(machine.l1i.ways),
      ways_l1d(machine.l1d.ways),
      groups(std::min(sets_l1i, sets_l1d)),
      vcpus(std::min(groups, kMostLanes)),
      ways_(std::max(ways_l1i, ways_l1d)),
      stride_(std::max(sets_l1i, sets_l1d)) {
    const std::string name = "machine " + machine.name;
    if (machine.policy != model::Policy::lru) {
        throw Error(name + ": a warm state can be rebuilt only with replacement.policy = lru");
    }
    if (machine.l2_inclusion != "exclusive") {
        throw Error(name + ": a warm state can be rebuilt only with l2.inclusion = exclusive");
    }
    if (sets_l2 < stride_ || groups < 2) {
        throw Error(
            name +
            ": a warm state can be rebuilt only if each L1 has at least 2 sets and the L2 has at least "
            "as many sets as each L1");
    }
    base_ = static_cast<Line>((lines + stride_ - 1) / stride_ * stride_);
}

Names::Names(const model::Protocol& protocol) {
    if (protocol.name() != "hammer") {
        throw Error("a warm state can be rebuilt only under the protocol hammer, not under " +
                    protocol.name());
    }
    mm = protocol.find("MM");
    d = protocol.find("D");
    o = protocol.find("O");
    oc = protocol.find("OC");
    s = protocol.find("S");
}

Group::Group(const Layout& layout, const Names& names, unsigned number_, const model::Hierarchy& state)
    : number(number_), cores(layout.cores) {
    const auto read = [&](unsigned core, Place place, Sets& sets) {
        const model::Cache& cache = cache_of(state.caches().core(core), place);
        for (Line set = number; set < cache.sets(); set += layout.groups) {
            auto lines = contents(cache, set);
            for (const Copy& copy : lines) {
                const Wanted wanted{core, place, copy};
                if (copy.state == names.s) {
                    sharers[copy.line].push_back(wanted);
                } else {
                    owners.emplace(copy.line, wanted);
                }
            }
            if (!lines.empty()) {
                sets.emplace(set, std::move(lines));
            }
        }
    };
    for (unsigned core = 0; core < layout.cores; ++core) {
        read(core, Place::l1i, cores[core].l1i);
        read(core, Place::l1d, cores[core].l1d);
        read(core, Place::l2, cores[core].l2);
    }
}

}  // namespace s80::replay
