// SPDX-License-Identifier: GPL-2.0-or-later
// A core whose L2 holds all that its L1s hold: states stand in the L2, an L1 knows whether stores may go
// ahead.
#include "model/hierarchy.h"

namespace s80::model {

unsigned Hierarchy::inclusive(const Access& a) {
    Core& mine = cores_[a.core];
    if (const Cache::Slot slot = mine.l2.find(a.line)) {
        Block& block = mine.l2.block(slot);
        const unsigned stall = hit(a, block);
        mine.l2.touch(slot);
        fill_l1(a, block.writable);
        return stall;
    }
    const Filled filled = miss(a);
    const Cache::Slot slot = mine.l2.place(a.line);
    if (const Line victim = mine.l2.line(slot); victim != kNoLine) {
        evict(a.core, victim, mine.l2.block(slot));
        mine.l1i.drop(victim);
        mine.l1d.drop(victim);
    }
    mine.l2.put(slot, a.line, filled.block);
    mine.l2.touch(slot);
    fill_l1(a, filled.block.writable);
    return filled.stall;
}

/// Puts the line into the L1 (or gives it permission). One core's own L1I and L1D stay coherent too: a
/// store drops the instruction copy, a fetch takes the store permission back, and a load gets it only
/// when there is no instruction copy.
void Hierarchy::fill_l1(const Access& a, bool writable) {
    Core& mine = cores_[a.core];
    if (a.kind == Kind::store) {
        mine.l1i.drop(a.line);
    } else if (a.kind == Kind::ifetch) {
        if (const Cache::Slot copy = mine.l1d.find(a.line)) {
            mine.l1d.block(copy).writable = false;
        }
    }
    Cache& l1 = mine.l1(a.kind);
    Cache::Slot slot = l1.find(a.line);
    if (slot && a.way != kAnyWay && slot.way != a.way) {
        l1.drop(slot);
        slot = {};
    }
    if (!slot) {
        slot = a.way == kAnyWay ? l1.place(a.line) : l1.at(a.line, a.way);
        l1.put(slot, a.line, Block{});
        l1.touch(slot);
    }
    if (writable && (a.kind == Kind::store || (a.kind != Kind::ifetch && !mine.l1i.find(a.line)))) {
        l1.block(slot).writable = true;
    }
}

}  // namespace s80::model
