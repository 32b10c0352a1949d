// SPDX-License-Identifier: GPL-2.0-or-later
#include "warm/plan.h"

#include <algorithm>
#include <numeric>

namespace s80::replay {

using model::Cache;
using model::Error;
using model::Kind;
using model::Line;

namespace {

Kind kind_of(Place place) {
    return place == Place::l1i ? Kind::ifetch : Kind::load;
}

const std::vector<Copy> kNone;

const std::vector<Copy>& lines_of(const Group::Sets& sets, Line set) {
    const auto found = sets.find(set);
    return found == sets.end() ? kNone : found->second;
}

}  // namespace

std::vector<Step> Planner::plan(const Group& group, const std::vector<Line>& assumed) {
    group_ = &group;
    steps_.clear();
    order_cores();
    assume_sharers(assumed);
    for (const unsigned core : order_) {
        bring_early(core);
    }
    for (const unsigned core : order_) {
        fill_l2(core);
        fill_l1(core, Place::l1d, false);
        fill_l1(core, Place::l1i, false);
    }
    for (const unsigned core : order_) {
        for (const Place place : {Place::l1d, Place::l1i}) {
            fill_l1(core, place, true);
            push_out(core, place);
            arrange(core, place);
        }
    }
    flush(reader());
    return std::move(steps_);
}

/// Sets the order of cores for stage 3. If other cores must read a line of a core's L1 before the core's turn
/// in stage 3, that line occupies a way of the L1 during stage 3. At least one way must be left for the lines
/// of the L2. So cores with many such lines come first.
void Planner::order_cores() {
    std::vector<unsigned> burden(layout_.cores, 0);
    for (const auto& [line, owner] : group_->owners) {
        const auto found = group_->sharers.find(line);
        if (owner.place != Place::l2 && found != group_->sharers.end()) {
            burden[owner.core] += std::any_of(found->second.begin(), found->second.end(),
                                              [](const Wanted& sharer) { return sharer.place == Place::l2; })
                                      ? 1U
                                      : 0U;
        }
    }
    order_.resize(layout_.cores);
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](unsigned a, unsigned b) { return burden[a] > burden[b]; });
    rank_.resize(layout_.cores);
    for (unsigned attempt = 0; attempt <= layout_.cores * layout_.cores; ++attempt) {
        for (unsigned i = 0; i < layout_.cores; ++i) {
            rank_[order_[i]] = i;
        }
        find_early();
        const auto stuck =
            std::find_if(order_.begin(), order_.end(), [&](unsigned core) { return !feasible(core); });
        if (stuck == order_.end()) {
            return;
        }
        std::rotate(order_.begin(), stuck, stuck + 1);
    }
    throw Error("the caches' lines that are equal to " + std::to_string(group_->number) + " modulo " +
                std::to_string(layout_.groups) +
                " cannot be rebuilt: every way of an L1 holds an owner that other cores must read first; use "
                "L1s with "
                "more ways");
}

void Planner::find_early() {
    early_.clear();
    for (const auto& [line, owner] : group_->owners) {
        if (owner.copy.state != names_.mm && is_early(owner)) {
            early_.insert(line);
        }
    }
    // Only a store leads to state MM, and a store brings the line into the L1D. If the line is to be in the
    // L1I, it passes through the L2 afterwards. Such lines are brought in early, so that they need no free
    // way of the L1D later.
    for (const auto& [line, owner] : group_->owners) {
        if (owner.copy.state == names_.mm && owner.place == Place::l1i) {
            early_.insert(line);
        }
    }
    for (const auto& [line, owner] : group_->owners) {
        if (owner.copy.state == names_.mm && owner.place == Place::l2 &&
            path(owner.core, line % layout_.sets_l2) == Place::l1i) {
            early_.insert(line);
        }
    }
}

bool Planner::is_early(const Wanted& owner) const {
    const auto found = group_->sharers.find(owner.copy.line);
    return found != group_->sharers.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const Wanted& sharer) {
               return sharer.place == Place::l2 && rank_[sharer.core] < rank_[owner.core];
           });
}

bool Planner::has_room(unsigned core, Place place, Line set) const {
    const auto& lines = lines_of(wanted(core, place), set % sets(place));
    const auto early = std::count_if(lines.begin(), lines.end(), [&](const Copy& copy) {
        return copy.state != names_.s && early_.contains(copy.line);
    });
    return static_cast<unsigned>(early) < ways(place);
}

Place Planner::path(unsigned core, Line set) const {
    return has_room(core, Place::l1d, set) ? Place::l1d : Place::l1i;
}

bool Planner::feasible(unsigned core) const {
    const auto& l2 = wanted(core, Place::l2);
    return std::all_of(l2.begin(), l2.end(),
                       [&](const auto& set) { return has_room(core, path(core, set.first), set.first); });
}

/// Memory assumes sharers of a line after the eviction of an owner (state OC). The writer becomes such an
/// owner when the reader reads its line. Each line pushes the line before it out of the spare cores.
void Planner::assume_sharers(const std::vector<Line>& lines) {
    for (const Line line : lines) {
        access(writer(), Kind::load, line);
        access(reader(), Kind::load, line);
    }
    if (!lines.empty()) {
        flush(writer());
        flush(reader());
    }
}

void Planner::bring_early(unsigned core) {
    const auto each = [&](Place place, auto&& fn) {
        const unsigned count = place == Place::l2 ? layout_.sets_l2 : sets(place);
        for (Line set = group_->number; set < count; set += layout_.groups) {
            for (const Copy& copy : lines_of(wanted(core, place), set)) {
                if (copy.state != names_.s && early_.contains(copy.line)) {
                    fn(copy);
                }
            }
        }
    };
    each(Place::l1i, [&](const Copy& copy) {  // before the L2 has other lines
        if (copy.state == names_.mm) {
            acquire(core, copy, Place::l1d);
            enter(core, copy.line, Place::l1i);
        }
    });
    each(Place::l2, [&](const Copy& copy) { acquire(core, copy, Place::l1d); });
    each(Place::l1d, [&](const Copy& copy) { acquire(core, copy, Place::l1d); });
    each(Place::l1i, [&](const Copy& copy) {
        if (copy.state != names_.mm) {
            acquire(core, copy, Place::l1i);
        }
    });
}

void Planner::fill_l2(unsigned core) {
    for (Line set = group_->number; set < layout_.sets_l2; set += layout_.groups) {
        const Place through = path(core, set);
        for (const Copy& copy : lines_of(wanted(core, Place::l2), set)) {
            if (held(core, copy.line)) {
                enter(core, copy.line, through);
            } else {
                acquire(core, copy, through);
            }
        }
    }
}

/// Brings in the lines of an L1. A copy in S must wait until the line's owner has the line; `last`: brings in
/// the copies that had to wait.
void Planner::fill_l1(unsigned core, Place place, bool last) {
    for (Line set = group_->number; set < sets(place); set += layout_.groups) {
        for (const Copy& copy : lines_of(wanted(core, place), set)) {
            if (held(core, copy.line)) {
                continue;
            }
            const auto owner = group_->owners.find(copy.line);
            const bool ready = copy.state != names_.s || owner == group_->owners.end() ||
                               held(owner->second.core, copy.line);
            if (ready || last) {
                acquire(core, copy, place);
            }
        }
    }
}

void Planner::push_out(unsigned core, Place place) {
    const Cache& l1 = cache_of(made_.caches().core(core), place);
    for (Line set = group_->number; set < sets(place); set += layout_.groups) {
        unsigned used = 0;
        const auto leftover = [&] {
            const auto lines = contents(l1, set);
            return std::any_of(lines.begin(), lines.end(),
                               [&](const Copy& copy) { return !stays(core, copy.line, place); });
        };
        while (leftover()) {
            enter(core, layout_.pusher(set, used++), place);
        }
        while (used > 0) {
            access(writer(), Kind::store, layout_.pusher(set, --used));
        }
    }
}

void Planner::arrange(unsigned core, Place place) {
    for (Line set = group_->number; set < sets(place); set += layout_.groups) {
        const auto& lines = lines_of(wanted(core, place), set);
        if (contents(cache_of(made_.caches().core(core), place), set) != lines) {
            for (const Copy& copy : lines) {
                access(core, kind_of(place), copy.line);
            }
        }
    }
}

/// Brings a line that the core does not hold into an L1, in its wanted state. An owner gets state O or OC
/// when another core first reads the line.
void Planner::acquire(unsigned core, const Copy& copy, Place place) {
    if (copy.state == names_.mm) {
        make_room(core, copy.line, Place::l1d);
        access(core, Kind::store, copy.line);
        return;
    }
    if (copy.state == names_.d || copy.state == names_.o) {
        access(writer(), Kind::store, copy.line);
    }
    enter(core, copy.line, place);
    if (names_.shareable(copy.state) && !group_->sharers.contains(copy.line)) {
        access(reader(), Kind::load, copy.line);
    }
}

void Planner::enter(unsigned core, Line line, Place place) {
    make_room(core, line, place);
    access(core, kind_of(place), line);
}

/// Accesses the lines that are to stay in the L1, until the victim for the new line is another line or an
/// empty way.
void Planner::make_room(unsigned core, Line line, Place place) {
    const Cache& l1 = cache_of(made_.caches().core(core), place);
    if (l1.find(line)) {
        return;
    }
    for (unsigned way = 0; way < l1.ways(); ++way) {
        const Line victim = l1.would_evict(line);
        if (victim == model::kNoLine || !stays(core, victim, place)) {
            return;
        }
        access(core, kind_of(place), victim);
    }
    throw Error("no way of the " + std::string(place_name(place)) + " of core " + std::to_string(core) +
                " is free for line " + std::to_string(line) + ", so the warm state cannot be rebuilt");
}

void Planner::flush(unsigned spare) {
    access(spare, Kind::load, layout_.flusher(group_->number, 0));
    access(spare, Kind::load, layout_.flusher(group_->number, 1));
}

void Planner::access(unsigned core, Kind kind, Line line) {
    const unsigned stall = made_.access(core, line, kind, {}).stall;
    steps_.push_back({line, static_cast<std::uint8_t>(core), kind, 1 + stall});
}

bool Planner::held(unsigned core, Line line) const {
    return made_.caches().state(core, line) != made_.protocol().invalid();
}

/// Whether the line is to stay in the L1: because it is wanted there, or because it is a dummy line, which
/// the writer will remove.
bool Planner::stays(unsigned core, Line line, Place place) const {
    const auto& lines = lines_of(wanted(core, place), line % sets(place));
    return line >= layout_.pusher(0, 0) ||
           std::any_of(lines.begin(), lines.end(), [&](const Copy& copy) { return copy.line == line; });
}

const Group::Sets& Planner::wanted(unsigned core, Place place) const {
    const Group::PerCore& mine = group_->cores[core];
    switch (place) {
        case Place::l1i: return mine.l1i;
        case Place::l1d: return mine.l1d;
        default: return mine.l2;
    }
}

}  // namespace s80::replay
