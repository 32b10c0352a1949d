// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/hierarchy.h"

#include <bit>

namespace s80::model {

namespace {

[[noreturn]] void impossible(const Protocol& p, const char* side, State s, unsigned core, Line line) {
    throw Error("protocol " + p.name() + ": core " + std::to_string(core) + " met the impossible cell " +
                side + " in state " + p.state(s).name + " (line " + std::to_string(line) + ")");
}

}  // namespace

Hierarchy::Hierarchy(const Machine& machine, const Protocol& protocol, std::size_t lines)
    : machine_(machine), protocol_(protocol), holders_(lines), stats_(machine.cores()) {
    if (protocol.leaves_shared()) {
        if (machine.cores() > kMemoryRemembers) {
            throw Error("protocol " + protocol.name() +
                        " has memory remember sharing, which works with at most " +
                        std::to_string(kMemoryRemembers) + " cores; the machine has " +
                        std::to_string(machine.cores()));
        }
        remembers_ = 1U << kMemoryRemembers;
    }
    cores_.reserve(machine.cores());
    for (unsigned c = 0; c < machine.cores(); ++c) {
        cores_.push_back({Cache(machine.l1i, machine.line_bytes, machine.policy),
                          Cache(machine.l1d, machine.line_bytes, machine.policy),
                          Cache(machine.l2, machine.line_bytes, machine.policy)});
    }
}

State Hierarchy::state(unsigned core, Line line) {
    const Block* block = cores_[core].l2.find(line);
    return block == nullptr ? protocol_.invalid() : block->state;
}

bool Hierarchy::in_l1(unsigned core, Line line, bool instruction) {
    Core& c = cores_[core];
    return (instruction ? c.l1i : c.l1d).find(line) != nullptr;
}

bool Hierarchy::l1_writable(unsigned core, Line line) {
    const Block* block = cores_[core].l1d.find(line);
    return block != nullptr && block->state != 0;
}

unsigned Hierarchy::l2_access(unsigned core, Line line, Kind kind, Context context) {
    ++stats_.kind(Stat::l2_accesses, core, context, kind);
    if (Block* block = cores_[core].l2.find(line); block != nullptr) {
        return hit(core, *block, kind, context);
    }
    return miss(core, line, kind, context);
}

/// The line is in the L2: an L1 miss, or a store that lacks permission.
unsigned Hierarchy::hit(unsigned core, Block& block, Kind kind, Context context) {
    Cache& l2 = cores_[core].l2;
    const OwnCell& cell = protocol_.own(own_event(kind), block.state);
    if (!cell.possible) {
        impossible(protocol_, "own access", block.state, core, block.line);
    }
    unsigned stall = 0;
    Service service = Service::l2;
    Snooped found;
    if (cell.bus != Bus::none) {
        found = snoop(core, block.line, cell.bus);
        ++stats_.context(Stat::upgrades, core, context);
        service = Service::upgrade;
        stall = machine_.latency.upgrade;
    } else {
        stall = machine_.latency.l2_hit;
    }
    const State next = found.next(cell);
    if (next != block.state) {
        if (kind == Kind::store && protocol_.state(block.state).counts_as == StateClass::E) {
            ++stats_.context(Stat::stores_found_e, core, context);
        }
        leave_e(core, block, Stat::e_to_m);
        block.state = next;
    }
    if (kind == Kind::store) {
        block.stored = 1;
    }
    l2.touch(&block);
    fill_l1(core, block.line, kind, protocol_.writable(next));
    stats_.stall(core, context, kind, service) += stall;
    return stall;
}

unsigned Hierarchy::miss(unsigned core, Line line, Kind kind, Context context) {
    Core& mine = cores_[core];
    ++stats_.kind(Stat::l2_misses, core, context, kind);
    const OwnCell& cell = protocol_.own(own_event(kind), protocol_.invalid());
    if (!cell.possible || cell.bus == Bus::none) {
        impossible(protocol_, "own miss", protocol_.invalid(), core, line);
    }
    const Snooped found = snoop(core, line, cell.bus);
    const State next = found.next(cell);

    Block* block = mine.l2.place(line);
    if (block->line != kNoLine) {
        evict(core, *block);
    }
    const StateClass entered = protocol_.state(next).counts_as;
    *block = {line, next, static_cast<std::uint8_t>(entered), static_cast<std::uint8_t>(found.source),
              static_cast<std::uint8_t>(kind == Kind::store)};
    mine.l2.touch(block);
    holders_.add(line, core);
    ++stats_.source(core, context, kind, found.source);
    ++stats_.fill(core, kind, entered);
    if (entered == StateClass::E) {
        ++stats_.core(Stat::e_resident, core);
    }
    fill_l1(core, line, kind, protocol_.writable(next));

    const bool memory = found.source == Source::memory;
    const unsigned stall = memory ? machine_.latency.memory : machine_.latency.cache;
    stats_.stall(core, context, kind, memory ? Service::memory : Service::cache) += stall;
    return stall;
}

/// Every other holder sees the request. Returns the supplier: of several that would, the state that
/// stands first in the table, then the lowest core.
Hierarchy::Snooped Hierarchy::snoop(unsigned core, Line line, Bus bus) {
    Snooped result;
    unsigned best = kMaxStates;
    unsigned supplier = 0;
    std::uint32_t word = holders_.of(line);
    if ((word & remembers_) != 0) {
        if (bus == Bus::read) {
            result.shared = true;
        } else {
            holders_.remove(line, kMemoryRemembers);
        }
        word &= ~remembers_;
    }
    for (std::uint32_t mask = word & ~(1U << core); mask != 0; mask &= mask - 1) {
        const auto other = static_cast<unsigned>(std::countr_zero(mask));
        Core& theirs = cores_[other];
        Block& block = *theirs.l2.find(line);
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
        }
        if (cell.next == protocol_.invalid()) {
            leave_e(other, block, Stat::e_invalidated);
            ++stats_.core(Stat::l2_invalidations, other);
            theirs.l1i.drop(line);
            theirs.l1d.drop(line);
            block = Block{};
            holders_.remove(line, other);
            continue;
        }
        result.shared = true;
        if (cell.next != block.state) {
            leave_e(other, block, Stat::e_downgraded);
            block.state = cell.next;
            if (!protocol_.writable(cell.next)) {
                if (Block* copy = theirs.l1d.find(line); copy != nullptr) {
                    copy->state = 0;
                }
            }
        }
    }
    if (best != kMaxStates) {
        ++stats_.core(Stat::interventions, supplier);
        result.source = static_cast<Source>(
            1 + static_cast<unsigned>(protocol_.state(static_cast<State>(best)).counts_as));
        const RemoteCell& cell = protocol_.remote(bus, static_cast<State>(best));
        result.gives = cell.gives;
        result.given = cell.given;
    }
    return result;
}

/// Called before a block leaves its state: settles what became of a block that entered in E.
void Hierarchy::leave_e(unsigned core, Block& block, Stat why) {
    if (block.fill_state != static_cast<std::uint8_t>(StateClass::E) ||
        protocol_.state(block.state).counts_as != StateClass::E) {
        return;
    }
    ++stats_.core(why, core);
    --stats_.core(Stat::e_resident, core);
    block.fill_state = static_cast<std::uint8_t>(StateClass::none);
}

void Hierarchy::evict(unsigned core, Block& block) {
    const OwnCell& cell = protocol_.own(OwnEvent::evict, block.state);
    if (!cell.possible) {
        impossible(protocol_, "own eviction", block.state, core, block.line);
    }
    Core& mine = cores_[core];
    leave_e(core, block, Stat::e_evicted);
    ++stats_.core(Stat::l2_evictions, core);
    if (cell.writeback) {
        ++stats_.core(Stat::l2_writebacks, core);
    }
    if (cell.leaves_shared) {
        holders_.add(block.line, kMemoryRemembers);
    }
    mine.l1i.drop(block.line);
    mine.l1d.drop(block.line);
    holders_.remove(block.line, core);
}

/// Puts the line into the L1 (or gives it permission). One core's own L1I and L1D stay coherent too: a
/// store drops the instruction copy, a fetch takes the store permission back, and a load gets it only
/// when there is no instruction copy.
void Hierarchy::fill_l1(unsigned core, Line line, Kind kind, bool writable) {
    Core& mine = cores_[core];
    if (kind == Kind::store) {
        mine.l1i.drop(line);
    } else if (kind == Kind::ifetch) {
        if (Block* copy = mine.l1d.find(line); copy != nullptr) {
            copy->state = 0;
        }
    }
    Cache& l1 = kind == Kind::ifetch ? mine.l1i : mine.l1d;
    Block* block = l1.find(line);
    if (block == nullptr) {
        block = l1.place(line);
        *block = Block{};
        block->line = line;
        l1.touch(block);
    }
    if (writable && (kind == Kind::store || (kind != Kind::ifetch && mine.l1i.find(line) == nullptr))) {
        block->state = 1;
    }
}

void Hierarchy::rebuild_holders() {
    for (unsigned c = 0; c < machine_.cores(); ++c) {
        for (const Block& block : cores_[c].l2.blocks()) {
            if (block.line == kNoLine) {
                continue;
            }
            if (block.line >= holders_.lines()) {
                throw Error("a cached line lies outside of the guest's memory");
            }
            holders_.add(block.line, c);
        }
    }
}

}  // namespace s80::model
