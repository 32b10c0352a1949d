// SPDX-License-Identifier: GPL-2.0-or-later
// What the protocol does to a core's copies. This is the same in all organisations of private caches.
#include "memory/private/private.h"

#include <utility>

#include "memory/home/home.h"

namespace s80::model {

PrivateCaches::PrivateCaches(const PrivateParts& parts) : parts_(parts) {
    static_assert(kKinds * kMaxStates <= 32, "quiet_ is too small");
    for (unsigned k = 0; k < kKinds; ++k) {
        const auto kind = static_cast<Kind>(k);
        for (unsigned i = 0; i < parts.protocol.states(); ++i) {
            const auto s = static_cast<State>(i);
            const OwnCell& cell = parts.protocol.own(own_event(kind), s);
            if (cell.possible && cell.bus == Bus::none && cell.next_alone == s) {
                quiet_ |= 1U << quiet_bit(kind, s);
            }
        }
    }
}

void PrivateCaches::impossible(const char* side, State state, unsigned core, Line line) const {
    throw Error("protocol " + parts_.protocol.name() + ": core " + std::to_string(core) +
                " met the impossible cell " + side + " in state " + parts_.protocol.state(state).name +
                " (line " + std::to_string(line) + ")");
}

void PrivateCaches::hit_with_effect(const Access& a, Block& block, Home& home, Outcome& outcome) {
    outcome.stall = parts_.topology.l2_hit(a.core);
    outcome.place = Place::l2;
    apply(a, block, home, outcome);
    parts_.stats.stalled(a.core, a.context, a.kind, labels(outcome).service, outcome.stall);
}

/// Changes the state of a block that the core holds, after a request for what the state lacks. The home then
/// fills in the outcome.
void PrivateCaches::apply(const Access& a, Block& block, Home& home, Outcome& outcome) {
    const OwnCell& cell = parts_.protocol.own(own_event(a.kind), block.state);
    if (!cell.possible) {
        impossible("own access", block.state, a.core, a.line);
    }
    Reply reply;
    if (cell.bus != Bus::none) {
        reply = home.request(a, cell.bus, outcome);
        ++parts_.stats.group(Stat::upgrades, a.core, a.context);
        ++parts_.stats.entry(Stat::entry_upgrades, a.context);
    }
    const State next = reply.shared ? cell.next_shared : cell.next_alone;
    if (next != block.state) {
        if (a.kind == Kind::store && parts_.protocol.state(block.state).counts_as == StateClass::E) {
            ++parts_.stats.group(Stat::stores_found_e, a.core, a.context);
        }
        leave_e(a.core, block, Stat::e_to_m);
        change(block, next);
    }
}

/// Requests a line that the core does not hold from the home, and returns the block to fill in. Counts the
/// fill. A prefetch counts as a fill, too, but not as a miss. A block that the group cache gave up is filled
/// in as it is; the access then applies to it as to any block that the core holds.
Block PrivateCaches::fill(const Access& a, Home& home, Outcome& outcome) {
    const OwnCell& cell = parts_.protocol.own(own_event(a.kind), parts_.protocol.invalid());
    if (!cell.possible) {
        impossible("own miss", parts_.protocol.invalid(), a.core, a.line);
    }
    const Reply reply = home.request(a, cell.bus, outcome);
    const State next = reply.gives ? reply.given : reply.shared ? cell.next_shared : cell.next_alone;
    const StateClass entered = parts_.protocol.state(next).counts_as;
    Block block;
    change(block, next);
    block.entered_in_e = entered == StateClass::E;
    const ProcessClass process_class = a.context.process_class();
    block.process_class = static_cast<std::uint8_t>(process_class) & 7;
    ++parts_.stats.fill(a.core, process_class, a.kind, entered);
    parts_.stats.process_class(Stat::e_resident, a.core, process_class) += block.entered_in_e ? 1U : 0U;
    if (reply.moved) [[unlikely]] {
        const unsigned move = std::exchange(outcome.stall, 0);
        apply(a, block, home, outcome);
        outcome.stall += move;
        outcome.place = Place::group;
        outcome.supplier = kNobody;
    }
    return block;
}

void PrivateCaches::count_miss(const Access& a, const Outcome& outcome) {
    Statistics& stats = parts_.stats;
    const auto [source, service] = labels(outcome);
    ++stats.kind(Stat::l2_misses, a.core, a.context, a.kind);
    ++stats.source(a.core, a.context, a.kind, source);
    ++stats.entry_source(a.context, source);
    stats.stalled(a.core, a.context, a.kind, service, outcome.stall);
}

void PrivateCaches::evict(unsigned core, Line line, Block& block, Home& home) {
    const OwnCell& cell = parts_.protocol.own(OwnEvent::evict, block.state);
    if (!cell.possible) {
        impossible("own eviction", block.state, core, line);
    }
    leaves(core, line);
    leave_e(core, block, Stat::e_evicted);
    parts_.stats.of_agent(core, Stat::l2_evictions, GroupEvent::eviction, block.process_class);
    if (cell.writeback) {
        count_writeback(core, block);
    }
    home.evicted(core, line, block);
}

Cache::Slot PrivateCaches::make_room(unsigned core, Line line, Home& home) {
    Cache& l2 = caches(core).l2;
    const Cache::Slot slot = l2.place(line);
    if (const Line victim = l2.line(slot); victim != kNoLine) {
        Block& block = l2.block(slot);
        evict(core, victim, block, home);
        drop_from_l1s(core, victim, block);
    }
    return slot;
}

void PrivateCaches::prefetch(const Access& a, Home& home) {
    const Cache& l2 = caches(a.core).l2;
    Outcome outcome;
    const Block block = fill(a, home, outcome);
    const Cache::Slot slot = make_room(a.core, a.line, home);
    l2.put(slot, a.line, block);
    l2.touch(slot);
}

Snooped PrivateCaches::snoop(unsigned core, Line line, Bus bus) {
    const Held copy = held(core, line);
    Block& block = copy.cache->block(copy.slot);
    const RemoteCell& cell = parts_.protocol.remote(bus, block.state);
    if (!cell.possible) {
        impossible("remote request", block.state, core, line);
    }
    const Snooped snooped{block.state, cell.next != parts_.protocol.invalid(), cell.supply, cell.writeback};
    if (cell.writeback) {
        count_writeback(core, block);
    }
    if (!snooped.keeps) {
        drop(core, line, copy);
    } else if (cell.next != block.state) {
        leave_e(core, block, Stat::e_downgraded);
        change(block, cell.next);
        downgraded(core, line, block);
    }
    return snooped;
}

bool PrivateCaches::invalidate(unsigned core, Line line) {
    const Held copy = held(core, line);
    const bool newer = parts_.protocol.own(OwnEvent::evict, copy.cache->block(copy.slot).state).writeback;
    leaves(core, line);
    drop(core, line, copy);
    return newer;
}

bool PrivateCaches::recall(unsigned core, Line line, RecallCause cause) {
    const Held copy = held(core, line);
    const Block block = copy.cache->block(copy.slot);
    const RemoteCell& cell = parts_.protocol.recalled(block.state);
    if (!cell.possible) {
        impossible("recall", block.state, core, line);
    }
    if (cell.writeback) {
        count_writeback(core, block);
    }
    const auto process_class = static_cast<ProcessClass>(block.process_class);
    if (core < parts_.stats.cores()) {
        ++parts_.stats.recalled_copy(core, cause, process_class);
    } else {
        ++parts_.stats.group_block(GroupEvent::recall, process_class);
    }
    if (listener_ != nullptr) [[unlikely]] {
        listener_->recalling(core, line);
    }
    drop(core, line, copy);
    return cell.writeback;
}

/// The copy enters the state that it would have after a read of another core: its owner does not know that
/// the device keeps no copy.
void PrivateCaches::clean(unsigned core, Line line) {
    const Held copy = held(core, line);
    Block& block = copy.cache->block(copy.slot);
    if (!parts_.protocol.own(OwnEvent::evict, block.state).writeback) {
        return;
    }
    count_writeback(core, block);
    change(block, parts_.protocol.own(OwnEvent::load, parts_.protocol.invalid()).next_shared);
    downgraded(core, line, block);
}

/// The core's copy whose block has the state.
PrivateCaches::Held PrivateCaches::held(unsigned core, Line line) const {
    const CoreCaches& mine = caches(core);
    if (const Cache::Slot slot = mine.l2.find(line)) [[likely]] {
        return {&mine.l2, slot};
    }
    if (const Cache::Slot slot = mine.l1d.find(line)) {
        return {&mine.l1d, slot};
    }
    return {&mine.l1i, mine.l1i.find(line)};
}

/// Removes all copies of the line from the core.
void PrivateCaches::drop(unsigned core, Line line, Held copy) {
    Block& block = copy.cache->block(copy.slot);
    leave_e(core, block, Stat::e_invalidated);
    parts_.stats.of_agent(core, Stat::l2_invalidations, GroupEvent::invalidation, block.process_class);
    drop_from_l1s(core, line, block);
    copy.cache->drop(copy.slot);
}

void PrivateCaches::drop_from_l1s(unsigned core, Line line, Block block) const {
    if (block.was_in_l1i) {
        caches(core).l1i.drop(line);
    }
    if (block.was_in_l1d) {
        caches(core).l1d.drop(line);
    }
}

void PrivateCaches::count_writeback(unsigned core, const Block& block) const {
    parts_.stats.of_agent(core, Stat::l2_writebacks, GroupEvent::writeback, block.process_class);
}

void PrivateCaches::change(Block& block, State next) const {
    block.state = next;
    block.writable = parts_.protocol.writable(next);
}

/// Takes the permission to store from the copy in the L1D if the block in the L2 has lost it.
void PrivateCaches::downgraded(unsigned core, Line line, const Block& block) const {
    if (!block.writable && block.was_in_l1d) {
        const Cache& l1d = caches(core).l1d;
        if (const Cache::Slot copy = l1d.find(line)) {
            l1d.block(copy).writable = false;
        }
    }
}

/// Call it before a block leaves its state. If the block entered the core in E, counts how it left E.
void PrivateCaches::leave_e(unsigned core, Block& block, Stat why) {
    if (block.entered_in_e) {
        const auto process_class = static_cast<ProcessClass>(block.process_class);
        ++parts_.stats.process_class(why, core, process_class);
        --parts_.stats.process_class(Stat::e_resident, core, process_class);
        block.entered_in_e = false;
    }
}

}  // namespace s80::model
