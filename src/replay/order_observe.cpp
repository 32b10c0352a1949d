// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/order_observe.h"

#include <algorithm>

namespace s80::replay {

using model::Cache;
using model::Hierarchy;
using model::Line;
using model::Stat;

Held Observed::held(unsigned core, Line line) const {
    return {hierarchy_.state(core, line), hierarchy_.in_l1(core, line, true),
            hierarchy_.in_l1(core, line, false), hierarchy_.in_l2(core, line)};
}

const Effect& Observed::access(const Access& access) {
    const model::Machine& machine = hierarchy_.machine();
    const model::Protocol& protocol = hierarchy_.protocol();
    model::Statistics& stats = hierarchy_.stats();
    const unsigned core = access.processor / machine.threads_per_core;
    const Line line = access.line;
    const model::Kind kind = access.kind();

    effect_ = Effect{};
    effect_.core = core;
    effect_.kind = kind;
    effect_.line = line;
    lines_.clear();
    if (!hierarchy_.in_l1(core, line, kind == model::Kind::ifetch)) {  // else nothing makes room for it
        remember(core, line, kind);
    }
    interventions_.resize(machine.cores());
    for (unsigned c = 0; c < machine.cores(); ++c) {
        interventions_[c] = stats.core(Stat::interventions, c);
        if (c != core) {
            if (const Held h = held(c, line); h.any()) {
                effect_.remote.push_back({c, line, h, h});
            }
        }
    }
    const Held found = held(core, line);
    const std::uint64_t misses = stats.kind(Stat::l2_misses, core, access.who(), kind);
    const std::uint64_t beyond_l1 = stats.kind(Stat::l2_accesses, core, access.who(), kind);

    effect_.stall = hierarchy_.access(core, line, kind, access.who());

    effect_.after = held(core, line);
    effect_.missed = stats.kind(Stat::l2_misses, core, access.who(), kind) != misses;
    if (!effect_.missed) {
        effect_.before = found;
    } else {
        effect_.before.state = protocol.invalid();
        if (found.any()) {
            effect_.moved.push_back({core, line, found, effect_.before});
        }
    }
    if (stats.kind(Stat::l2_accesses, core, access.who(), kind) != beyond_l1) {  // else the L1 absorbed it
        effect_.bus = protocol.own(model::own_event(kind), effect_.before.state).bus;
    }
    for (Change& change : effect_.remote) {
        change.after = held(change.core, line);
        if (stats.core(Stat::interventions, change.core) != interventions_[change.core]) {
            effect_.supplier = change.core;
            effect_.supplied_in = change.before.state;
        }
    }
    for (Change& change : lines_) {
        change.after = held(core, change.line);
        if (change.line != line && change.after != change.before) {
            effect_.moved.push_back(change);
        }
    }
    return effect_;
}

/// The lines of the requester that can change place: the set of the L1 that is filled, what its victims may
/// push out of the L2, and the line's own set of the L2.
void Observed::remember(unsigned core, Line line, model::Kind kind) {
    Hierarchy::Core& c = hierarchy_.cores()[core];
    remember_set(core, c.l2, line);
    const std::size_t first = lines_.size();
    remember_set(core, c.l1(kind), line);
    const std::size_t last = lines_.size();
    for (std::size_t i = first; i < last; ++i) {
        remember_set(core, c.l2, lines_[i].line);
    }
}

void Observed::remember_set(unsigned core, const Cache& cache, Line line) {
    for (unsigned way = 0; way < cache.ways(); ++way) {
        const Line there = cache.line(cache.at(line, way));
        const bool known =
            std::any_of(lines_.begin(), lines_.end(), [&](const Change& c) { return c.line == there; });
        if (there != model::kNoLine && !known) {
            const Held h = held(core, there);
            lines_.push_back({core, there, h, h});
        }
    }
}

}  // namespace s80::replay
