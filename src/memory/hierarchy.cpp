// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/hierarchy.h"

#include "memory/private/organisations.h"

namespace s80::model {

namespace {

std::size_t core_bytes(const Machine& m) {
    return Cache::bytes(m.l1i, m.line_bytes, m.policy) + Cache::bytes(m.l1d, m.line_bytes, m.policy) +
           Cache::bytes(m.l2, m.line_bytes, m.policy);
}

Machine with_spares(Machine machine, Spares spares) {
    if (machine.group && spares.cores != 0) {
        throw Error(
            "machine " + machine.name +
            " has group caches, whose contents spare cores cannot rebuild: remove [group] from the machine");
    }
    machine.processors += spares.cores * machine.threads_per_core;
    if (machine.cores() > kMaxCores) {
        throw Error("machine " + machine.name + " has " + std::to_string(machine.cores() - spares.cores) +
                    " cores and needs " + std::to_string(spares.cores) +
                    " spare cores; the model has at most " + std::to_string(kMaxCores) + " cores");
    }
    return machine;
}

/// The machine of a group cache as an agent: its L2 is the group cache, and its L1s stay empty.
Machine group_machine(Machine machine) {
    machine.l1i = machine.l1d = {machine.line_bytes, 1};
    machine.l2 = machine.group->cache;
    machine.policy = machine.group->policy;
    return machine;
}

std::size_t groups_bytes(const Machine& m) {
    return m.group ? core_bytes(group_machine(m)) * (m.agents() - m.cores()) : 0;
}

/// The machine of a spare core: direct-mapped caches.
Machine spare_machine(Machine machine, Spares spares) {
    machine.l1i = machine.l1d = machine.l2 = {std::uint64_t{spares.sets} * machine.line_bytes, 1};
    return machine;
}

}  // namespace

// Defined before its use, because clang otherwise does not emit it
// (findings/clang-template-from-generic-lambda.sh).
template <class Caches>
void Hierarchy::beyond_l1(Hierarchy& self, const Access& a, Cache::Slot slot, Outcome& outcome) {
    Statistics& stats = self.stats_;
    if (!slot) {
        ++stats.kind(Stat::l1_misses, a.core, a.context, a.kind);
    }
    ++stats.kind(Stat::l2_accesses, a.core, a.context, a.kind);
    static_cast<Caches&>(*self.private_).access(a, slot, *self.home_, outcome);
    if (self.follows_up_) [[unlikely]] {
        self.follow_up(a, outcome);
    }
}

Hierarchy::Hierarchy(const Machine& machine, const Protocol& protocol, std::size_t lines, Spares spares)
    : machine_(with_spares(machine, spares)),
      protocol_(protocol),
      topology_(machine_),
      memory_(core_bytes(machine) * machine.cores() +
                  core_bytes(spare_machine(machine, spares)) * spares.cores + groups_bytes(machine),
              "the caches' tags"),
      sharers_(lines, machine_.agents()),
      stats_(machine_.dimensions()),
      private_(make_private_caches(machine_, {protocol_, topology_, stats_, cores_})),
      beyond_l1_(Organisations::call(
          organisation_number(machine_),
          []<class Caches>(Organisation<Caches>) -> BeyondL1 { return &beyond_l1<Caches>; })),
      home_(make_home({machine_, protocol_, topology_, stats_, *private_, cores_, sharers_})),
      prefetcher_(make_prefetcher(machine_)),
      follows_up_(prefetcher_ || home_->follows_up()) {
    const Machine spare = spare_machine(machine, spares);
    const Machine group = machine.group ? group_machine(machine) : machine;
    std::byte* at = memory_.data();
    const auto cache = [&](const CacheGeometry& g, Policy policy) {
        std::byte* mine = at;
        at += Cache::bytes(g, machine.line_bytes, policy);
        return Cache(g, machine.line_bytes, policy, mine);
    };
    cores_.reserve(machine_.agents());
    for (unsigned c = 0; c < machine_.agents(); ++c) {
        const Machine& mine = machine_.is_group_cache(c) ? group : c < machine.cores() ? machine : spare;
        cores_.push_back(
            {cache(mine.l1i, mine.policy), cache(mine.l1d, mine.policy), cache(mine.l2, mine.policy)});
    }
}

/// Host prefetch of the sets that the snoop will search in the other cores, and of the sharers of the line
/// that the access will evict.
void Hierarchy::host_prefetch_others(unsigned core, Line line, CoreSet others) const {
    private_->host_prefetch_snoop(others, line);
    const Line victim = cores_[core].l2.next_victim(line);
    if (victim != kNoLine) {
        sharers_.host_prefetch(victim);
    }
    if (follows_up_) [[unlikely]] {
        home_->host_prefetch(line, victim);
    }
}

void Hierarchy::no_such_way(unsigned way) const {
    throw Error("an L1-filtered epoch names way " + std::to_string(way) + " of an L1, but machine " +
                machine_.name + " has only " + std::to_string(machine_.l1i.ways) + " (L1I) and " +
                std::to_string(machine_.l1d.ways) + " (L1D): the capture is of another machine");
}

void Hierarchy::follow_up(const Access& a, const Outcome& outcome) {
    home_->settle();
    if (prefetcher_) {
        prefetch(a, outcome);
    }
}

void Hierarchy::prefetch(const Access& a, const Outcome& outcome) {
    prefetched_.clear();
    prefetcher_->observe(a, outcome, prefetched_);
    for (const Line line : prefetched_) {
        if (line < lines() && !sharers_.cores(line).has(a.core)) {
            private_->prefetch({line, Kind::load, a.context, a.core, kAnyWay}, *home_);
            home_->settle();
        }
    }
}

std::vector<std::uint64_t> Hierarchy::state() const {
    std::vector<std::uint64_t> words;
    for (const CoreCaches& core : cores_) {
        for (const Cache* cache : {&core.l1i, &core.l1d, &core.l2}) {
            words.push_back(cache->replacement().common_state());
        }
    }
    if (prefetcher_) {
        const std::vector<std::uint64_t> section = prefetcher_->state();
        words.push_back(section.size());
        words.insert(words.end(), section.begin(), section.end());
    }
    const std::vector<std::uint64_t> section = home_->state();
    words.insert(words.end(), section.begin(), section.end());
    return words;
}

void Hierarchy::set_state(std::span<const std::uint64_t> words) {
    const auto require = [](bool fits) {
        if (!fits) {
            throw Error("holds an array of another size");
        }
    };
    const auto take = [&](std::size_t count) {
        require(words.size() >= count);
        const auto section = words.first(count);
        words = words.subspan(count);
        return section;
    };
    for (CoreCaches& core : cores_) {
        for (Cache* cache : {&core.l1i, &core.l1d, &core.l2}) {
            cache->replacement().set_common_state(take(1)[0]);
        }
    }
    if (prefetcher_) {
        require(prefetcher_->set_state(take(take(1)[0])));
    }
    require(home_->set_state(words));
}

void Hierarchy::rebuild_sharers(const std::vector<Line>& remembered) {
    const auto inside = [&](Line line) {
        if (line >= lines()) {
            throw Error("a cached line lies outside of the guest's memory");
        }
        return line;
    };
    for (unsigned c = 0; c < machine_.agents(); ++c) {
        for (const Cache* cache : {&cores_[c].l1i, &cores_[c].l1d, &cores_[c].l2}) {
            cache->each_line([&](Line line) { sharers_.add(inside(line), c); });
        }
    }
    for (const Line line : remembered) {
        home_->remember(inside(line));
    }
}

}  // namespace s80::model
