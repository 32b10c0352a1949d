// SPDX-License-Identifier: GPL-2.0-or-later
#include "replay/order_observe.h"

#include <algorithm>
#include <utility>

namespace s80::replay {

using model::Line;

namespace {

/// Whether the home recalled the line of this change. Its place after the move is then the one before the
/// recall.
bool recalled(const Effect& effect, const Change& change) {
    return std::ranges::any_of(effect.at_home, [&](const AtHome& home) {
        return std::ranges::any_of(home.recalled, [&](const Change& gone) {
            return gone.core == change.core && gone.line == change.line;
        });
    });
}

}  // namespace

Held Observed::held(unsigned core, Line line) const {
    const model::CacheView caches = hierarchy_.caches();
    return {caches.state(core, line), caches.in_l1(core, line, true), caches.in_l1(core, line, false),
            caches.in_l2(core, line)};
}

const Effect& Observed::access(const Access& access) {
    const unsigned core = access.processor / hierarchy_.machine().threads_per_core;
    const Line line = access.line;
    effect_ = Effect{};
    effect_.core = core;
    effect_.kind = access.kind();
    effect_.line = line;
    ranks_.clear();
    effect_.before = held(core, line);
    for (const unsigned other : hierarchy_.caches().sharers(line).without(core)) {
        const Held copy = held(other, line);
        effect_.remote.push_back({other, line, copy, copy});
    }

    const model::Outcome outcome = hierarchy_.access(core, line, access.kind(), access.who());

    effect_.stall = outcome.stall;
    effect_.missed = outcome.missed();
    effect_.bus = outcome.request;
    effect_.has_home = hierarchy_.home().home_state(line).has_value();
    effect_.from_llc = outcome.place == model::Place::llc;
    effect_.after_recall = outcome.after_recall;
    effect_.has_groups = hierarchy_.machine().group.has_value();
    effect_.from_group = outcome.place == model::Place::group;
    effect_.after = held(core, line);
    if (effect_.from_group) {  // a move, not a request that the group cache sees
        std::erase_if(effect_.remote, [&](const Change& change) {
            return change.core == hierarchy_.machine().group_cache(core);
        });
    }
    // Nor does it see a request of the core for a line that it has just evicted to make room.
    std::erase_if(effect_.remote, [&](const Change& change) {
        return std::ranges::any_of(effect_.group, [&](const GroupMove& move) {
            return move.line == line && move.from == change.core && move.to == model::kNobody;
        });
    });
    for (Change& change : effect_.remote) {
        change.after = held(change.core, line);
        if (change.core == outcome.supplier) {
            effect_.supplier = change.core;
            effect_.supplied_in = change.before.state;
        }
    }
    for (Change& change : effect_.moved) {
        if (!recalled(effect_, change)) {
            change.after = held(change.core, change.line);
        }
    }
    if (effect_.missed && effect_.before.any()) {  // the core evicted the line before the access missed
        const Held gone{hierarchy_.protocol().invalid(), false, false, false};
        effect_.moved.insert(effect_.moved.begin(), {core, line, effect_.before, gone});
        effect_.before = gone;
    }
    return effect_;
}

/// The rank of a moved line in Effect::moved. First come lines in the L2 set of the accessed line, by their
/// ways; then lines in its L1 set, by their ways; then all others.
unsigned Observed::rank(Line line) const {
    const model::CoreCaches& mine = hierarchy_.caches().core(effect_.core);
    if (const auto slot = mine.l2.find(line); slot.set == mine.l2.slot(effect_.line, 0).set) {
        return slot.way;
    }
    const auto slot = mine.l1(effect_.kind).find(line);
    return slot ? mine.l2.ways() + slot.way : ~0U;
}

void Observed::leaving(unsigned core, Line line) {
    if (hierarchy_.machine().is_group_cache(core)) {
        effect_.group.push_back({line, core, model::kNobody, held(core, line).state});
        return;
    }
    if (line != effect_.line && moved(core, line) == nullptr) {
        const Held before = held(core, line);
        const auto at = std::ranges::upper_bound(ranks_, rank(line)) - ranks_.begin();
        ranks_.insert(ranks_.begin() + at, rank(line));
        effect_.moved.insert(effect_.moved.begin() + at, {core, line, before, before});
    }
}

void Observed::moving(unsigned from, unsigned to, Line line) {
    effect_.group.push_back({line, from, static_cast<model::CoreNumber>(to), held(from, line).state});
}

void Observed::recalling(unsigned core, Line line) {
    const Held now = held(core, line);
    if (Change* const change = moved(core, line)) {
        change->after = now;
    }
    recalling_.push_back({core, line, now, {hierarchy_.protocol().invalid(), false, false, false}});
}

Change* Observed::moved(unsigned core, Line line) {
    const auto found = std::ranges::find_if(
        effect_.moved, [&](const Change& change) { return change.core == core && change.line == line; });
    return found == effect_.moved.end() ? nullptr : &*found;
}

void Observed::at_home(model::HomeEvent event, Line line, model::CoreNumber core, model::HomeState before,
                       model::HomeState after) {
    effect_.at_home.push_back({event, line, core, before, after, std::move(recalling_)});
    recalling_.clear();
}

}  // namespace s80::replay
