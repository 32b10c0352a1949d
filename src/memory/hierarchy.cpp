// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/hierarchy.h"

namespace s80::model {

namespace {

[[noreturn]] void impossible(const Protocol& p, const char* side, State s, unsigned core, Line line) {
    throw Error("protocol " + p.name() + ": core " + std::to_string(core) + " met the impossible cell " +
                side + " in state " + p.state(s).name + " (line " + std::to_string(line) + ")");
}

std::size_t core_bytes(const Machine& m) {
    return Cache::bytes(m.l1i, m.line_bytes) + Cache::bytes(m.l1d, m.line_bytes) +
           Cache::bytes(m.l2, m.line_bytes);
}

Machine with_spares(Machine machine, Spares spares) {
    machine.processors += spares.cores * machine.threads_per_core;
    if (machine.cores() > kMaxCores) {
        throw Error("machine " + machine.name + " has " + std::to_string(machine.cores() - spares.cores) +
                    " cores and needs " + std::to_string(spares.cores) +
                    " spare cores; the model has at most " + std::to_string(kMaxCores) + " cores");
    }
    return machine;
}

/// The machine of a spare core: direct-mapped caches.
Machine spare_machine(Machine machine, Spares spares) {
    machine.l1i = machine.l1d = machine.l2 = {std::uint64_t{spares.sets} * machine.line_bytes, 1};
    return machine;
}

}  // namespace

Hierarchy::Hierarchy(const Machine& machine, const Protocol& protocol, std::size_t lines, Spares spares)
    : machine_(with_spares(machine, spares)),
      protocol_(protocol),
      exclusive_(machine.l2_inclusion == Inclusion::exclusive),
      memory_number_(protocol.leaves_shared() ? CoreSet::only(Holders::kMemory) : CoreSet()),
      memory_(
          core_bytes(machine) * machine.cores() + core_bytes(spare_machine(machine, spares)) * spares.cores,
          "the caches' tags"),
      holders_(lines),
      stats_(machine_.cores()),
      interconnect_(machine_) {
    if (!memory_number_.empty() && machine_.cores() > Holders::kMemory) {
        throw Error("protocol " + protocol.name() +
                    " has memory remember sharers (leaves_shared), which supports at most " +
                    std::to_string(Holders::kMemory) + " cores; machine " + machine.name + " has " +
                    std::to_string(machine_.cores()));
    }
    static_assert(kKinds * kMaxStates <= 32, "quiet_ is too small");
    for (unsigned k = 0; k < kKinds; ++k) {
        const auto kind = static_cast<Kind>(k);
        for (unsigned i = 0; i < protocol.states(); ++i) {
            const auto s = static_cast<State>(i);
            const OwnCell& cell = protocol.own(own_event(kind), s);
            if (cell.possible && cell.bus == Bus::none && cell.next_alone == s) {
                quiet_ |= 1U << quiet_bit(kind, s);
            }
        }
    }
    const Machine spare = spare_machine(machine, spares);
    std::byte* at = memory_.data();
    const auto cache = [&](const CacheGeometry& g) {
        std::byte* mine = at;
        at += Cache::bytes(g, machine.line_bytes);
        return Cache(g, machine.line_bytes, machine.policy, mine);
    };
    cores_.reserve(machine_.cores());
    for (unsigned c = 0; c < machine_.cores(); ++c) {
        const Machine& mine = c < machine.cores() ? machine : spare;
        cores_.push_back({cache(mine.l1i), cache(mine.l1d), cache(mine.l2)});
    }
    latency_.assign(machine_.cores(), machine.latency);
}

/// Sets of those that will snoop, and the holders of who will be pushed out.
void Hierarchy::prefetch_others(unsigned core, Line line, CoreSet others) const {
    for (const unsigned other : others) {
        const CoreCaches& theirs = cores_[other];
        theirs.l2.prefetch(line);
        if (exclusive_) {
            theirs.l1d.prefetch(line);
            theirs.l1i.prefetch(line);
        }
    }
    if (const Line victim = cores_[core].l2.next_victim(line); victim != kNoLine) {
        holders_.prefetch(victim);
    }
}

void Hierarchy::no_such_way(unsigned way) const {
    throw Error("an L1-filtered epoch names way " + std::to_string(way) + " of an L1, but machine " +
                machine_.name + " has only " + std::to_string(machine_.l1i.ways) + " (L1I) and " +
                std::to_string(machine_.l1d.ways) + " (L1D): the capture is of another machine");
}

/// An L1 miss, or (slot: where the line is) a store that lacks permission.
Outcome Hierarchy::beyond_l1(Access a, Cache::Slot slot) {
    if (!slot) {
        ++stats_.kind(Stat::l1_misses, a.core, a.context, a.kind);
    }
    ++stats_.kind(Stat::l2_accesses, a.core, a.context, a.kind);
    const Outcome outcome = exclusive_ ? exclusive(a, slot) : inclusive(a);
    const auto [source, service] = labels(outcome);
    if (outcome.missed()) {
        ++stats_.kind(Stat::l2_misses, a.core, a.context, a.kind);
        ++stats_.source(a.core, a.context, a.kind, source);
        ++stats_.entry_source(a.context, source);
    } else if (outcome.upgraded()) {
        ++stats_.group(Stat::upgrades, a.core, a.context);
        ++stats_.entry(Stat::entry_upgrades, a.context);
    }
    stalled(a.core, a.context, a.kind, service, outcome.stall);
    return outcome;
}

Outcome Hierarchy::hit_with_effect(Access a, Block& block) {
    const OwnCell& cell = protocol_.own(own_event(a.kind), block.state);
    if (!cell.possible) {
        impossible(protocol_, "own access", block.state, a.core, a.line);
    }
    Outcome outcome{latency_[a.core].l2_hit, Place::l2};
    bool shared = false;
    if (cell.bus != Bus::none) {
        const Snooped found = snoop(a, cell.bus);
        shared = found.shared;
        outcome = {latency_[a.core].upgrade + interconnect_.bus(stats_),
                   Place::l2,
                   found.state,
                   found.supplier,
                   cell.bus,
                   found.holders};
    }
    const State next = shared ? cell.next_shared : cell.next_alone;
    if (next != block.state) {
        if (a.kind == Kind::store && protocol_.state(block.state).counts_as == StateClass::E) {
            ++stats_.group(Stat::stores_found_e, a.core, a.context);
        }
        leave_e(a.core, block, Stat::e_to_m);
        change(block, next);
    }
    return outcome;
}

/// The core does not hold the line: asks for it. The caller puts the block into a cache.
Hierarchy::Filled Hierarchy::miss(Access a) {
    const OwnCell& cell = protocol_.own(own_event(a.kind), protocol_.invalid());
    if (!cell.possible) {
        impossible(protocol_, "own miss", protocol_.invalid(), a.core, a.line);
    }
    const Snooped found = snoop(a, cell.bus);
    const State next = found.gives ? found.given : found.shared ? cell.next_shared : cell.next_alone;
    const StateClass entered = protocol_.state(next).counts_as;
    Block block;
    change(block, next);
    block.entered_in_e = entered == StateClass::E;
    const Party party = a.context.party();
    block.party = static_cast<std::uint8_t>(party) & 7;
    holders_.add(a.line, a.core);
    ++stats_.fill(a.core, party, a.kind, entered);
    stats_.party(Stat::e_resident, a.core, party) += block.entered_in_e ? 1U : 0U;

    const bool memory = found.supplier == kNobody;
    const unsigned stall = memory ? latency_[a.core].memory + interconnect_.bus_and_memory(stats_, a.line)
                                  : latency_[a.core].cache + interconnect_.bus(stats_);
    return {
        block,
        {stall, memory ? Place::memory : Place::peer, found.state, found.supplier, cell.bus, found.holders}};
}

/// The block leaves the core for want of room. The caller takes it out of the cache.
void Hierarchy::evict(unsigned core, Line line, Block& block) {
    const OwnCell& cell = protocol_.own(OwnEvent::evict, block.state);
    if (!cell.possible) {
        impossible(protocol_, "own eviction", block.state, core, line);
    }
    leaves(core, line);
    leave_e(core, block, Stat::e_evicted);
    ++stats_.core(Stat::l2_evictions, core);
    if (cell.writeback) {
        ++stats_.core(Stat::l2_writebacks, core);
        interconnect_.evicted(line);
    }
    holders_.remove(line, core);
    if (cell.leaves_shared) {
        holders_.add(line, Holders::kMemory);
    }
}

/// Every other holder sees the request. Returns the supplier: of several that would, the state that
/// stands first in the table, then the lowest core.
Hierarchy::Snooped Hierarchy::snoop(Access a, Bus bus) {
    const unsigned core = a.core;
    const Line line = a.line;
    Snooped result;
    unsigned best = kMaxStates;
    unsigned supplier = 0;
    const CoreSet holders = holders_.of(line);
    if (memory_among(holders)) {
        result.shared = bus == Bus::read;
        if (bus != Bus::read) {
            holders_.remove(line, Holders::kMemory);
        }
    }
    result.holders = cores_among(holders).without(core);
    for (const unsigned other : result.holders) {
        const Held theirs = held(other, line);
        Block& block = theirs.cache->block(theirs.slot);
        const RemoteCell& cell = protocol_.remote(bus, block.state);
        if (!cell.possible) {
            impossible(protocol_, "remote request", block.state, other, line);
        }
        if (cell.supply && block.state < best) {
            best = block.state;
            supplier = other;
        }
        if (cell.writeback) {
            ++stats_.core(Stat::l2_writebacks, other);
            interconnect_.copied_to_memory(stats_, line);
        }
        if (cell.next == protocol_.invalid()) {
            invalidate(other, line, theirs);
            ++stats_.group(Stat::invalidations_sent, core, a.context);
            continue;
        }
        result.shared = true;
        if (cell.next != block.state) {
            leave_e(other, block, Stat::e_downgraded);
            change(block, cell.next);
            protect_l1d(other, line, block);
        }
    }
    if (best != kMaxStates) {
        const RemoteCell& cell = protocol_.remote(bus, static_cast<State>(best));
        ++stats_.core(Stat::interventions, supplier);
        result.supplier = static_cast<std::uint8_t>(supplier);
        result.state = protocol_.state(static_cast<State>(best)).counts_as;
        result.gives = cell.gives;
        result.given = cell.given;
    }
    return result;
}

void Hierarchy::invalidate(unsigned core, Line line, Held held) {
    Block& block = held.cache->block(held.slot);
    leave_e(core, block, Stat::e_invalidated);
    ++stats_.core(Stat::l2_invalidations, core);
    if (!exclusive_) {
        drop_from_l1s(core, line, block);
    }
    held.cache->drop(held.slot);
    holders_.remove(line, core);
}

/// Where the core keeps the block that has the state: under an inclusive L2 there, otherwise where it is.
Hierarchy::Held Hierarchy::held(unsigned core, Line line) const {
    const CoreCaches& c = cores_[core];
    if (exclusive_) {
        for (const Cache* l1 : {&c.l1d, &c.l1i}) {
            if (const Cache::Slot slot = l1->find(line)) {
                return {l1, slot};
            }
        }
    }
    return {&c.l2, c.l2.find(line)};
}

void Hierarchy::change(Block& block, State next) const {
    block.state = next;
    block.writable = protocol_.writable(next);
}

/// After a change of the block under an inclusive L2: its copy in the L1D may be stored to no longer than it.
void Hierarchy::protect_l1d(unsigned core, Line line, const Block& block) const {
    if (!block.writable && !exclusive_ && block.was_in_l1d) {
        const Cache& l1d = cores_[core].l1d;
        if (const Cache::Slot copy = l1d.find(line)) {
            l1d.block(copy).writable = false;
        }
    }
}

/// Called before a block leaves its state: settles what became of a block that entered in E.
void Hierarchy::leave_e(unsigned core, Block& block, Stat why) {
    if (block.entered_in_e) {
        const auto party = static_cast<Party>(block.party);
        ++stats_.party(why, core, party);
        --stats_.party(Stat::e_resident, core, party);
        block.entered_in_e = false;
    }
}

std::vector<Line> Hierarchy::remembered() const {
    std::vector<Line> lines;
    for (Line line = 0; !memory_number_.empty() && line < holders_.lines(); ++line) {
        if (memory_among(holders_.of(line))) {
            lines.push_back(line);
        }
    }
    return lines;
}

void Hierarchy::rebuild_holders(const std::vector<Line>& remembered) {
    const auto add = [&](Line line, unsigned holder) {
        if (line >= holders_.lines()) {
            throw Error("a cached line lies outside of the guest's memory");
        }
        holders_.add(line, holder);
    };
    for (unsigned c = 0; c < machine_.cores(); ++c) {
        for (const Cache* cache : {&cores_[c].l1i, &cores_[c].l1d, &cores_[c].l2}) {
            cache->each_line([&](Line line) { add(line, c); });
        }
    }
    for (const Line line : remembered) {
        add(line, Holders::kMemory);
    }
}

}  // namespace s80::model
