// SPDX-License-Identifier: GPL-2.0-or-later
// A core whose L2 holds all lines of its L1s. The L2 keeps the states; an L1 knows only whether stores need
// a request.
#include "memory/hierarchy.h"

namespace s80::model {

Outcome Hierarchy::inclusive(Access a) {
    Cache& l2 = cores_[a.core].l2;
    Cache::Slot slot = l2.find(a.line);
    Outcome outcome;
    if (slot) [[likely]] {
        outcome = hit(a, l2.block(slot));
    } else {
        const Filled filled = miss(a);
        slot = make_room(a.core, a.line);
        l2.put(slot, a.line, filled.block);
        outcome = filled.outcome;
    }
    l2.touch(slot);
    fill_l1(a, l2.block(slot));
    return outcome;
}

/// The slot of the L2 where the line is to be put, its old block gone.
Cache::Slot Hierarchy::make_room(unsigned core, Line line) {
    Cache& l2 = cores_[core].l2;
    const Cache::Slot slot = l2.place(line);
    if (const Line victim = l2.line(slot); victim != kNoLine) {
        Block& block = l2.block(slot);
        evict(core, victim, block);
        drop_from_l1s(core, victim, block);
    }
    return slot;
}

/// Puts the line into the L1 (or gives it permission). One core's own L1I and L1D stay coherent too: a
/// store drops the instruction copy, a fetch takes the store permission back, and a load gets it only
/// when there is no instruction copy.
void Hierarchy::fill_l1(Access a, Block& block) {
    CoreCaches& mine = cores_[a.core];
    const bool fetch = a.kind == Kind::ifetch;
    const Cache::Slot other = fetch ? (block.was_in_l1d ? mine.l1d.find(a.line) : Cache::Slot{})
                                    : (block.was_in_l1i ? mine.l1i.find(a.line) : Cache::Slot{});
    if (other && fetch) {
        mine.l1d.block(other).writable = false;
    } else if (other && a.kind == Kind::store) {
        mine.l1i.drop(other);
    }
    Cache& l1 = mine.l1(a.kind);
    Cache::Slot slot = (fetch ? block.was_in_l1i : block.was_in_l1d) ? l1.find(a.line) : Cache::Slot{};
    if (slot && a.way != kAnyWay && slot.way != a.way) {
        l1.drop(slot);
        slot = {};
    }
    if (!slot) {
        slot = a.way == kAnyWay ? l1.place(a.line) : l1.at(a.line, a.way);
        if (const Line victim = l1.line(slot); victim != kNoLine) {
            leaves(a.core, victim);
        }
        l1.put(slot, a.line, Block{});
        if (a.way == kAnyWay) {
            l1.touch(slot);
        }
    }
    if (fetch) {
        block.was_in_l1i = true;
    } else {
        block.was_in_l1d = true;
    }
    if (block.writable && (a.kind == Kind::store || (!fetch && !other))) {
        l1.block(slot).writable = true;
    }
}

/// The block leaves the L2, and so the core.
void Hierarchy::drop_from_l1s(unsigned core, Line line, Block block) {
    if (block.was_in_l1i) {
        cores_[core].l1i.drop(line);
    }
    if (block.was_in_l1d) {
        cores_[core].l1d.drop(line);
    }
}

}  // namespace s80::model
