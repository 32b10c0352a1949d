// SPDX-License-Identifier: GPL-2.0-or-later
// A core whose L1I, L1D and L2 never hold the same line. A block moves between them with its state, and
// lines evicted from an L1 go to the L2. The order of the moves, and therefore the choice of victims, is
// that of gem5's MOESI_hammer.
#include "memory/hierarchy.h"

namespace s80::model {

/// 1. A line in the wrong L1 goes to the L2. 2. The victim of the L1 goes there too. 3. Now there is room:
/// the line comes from the L2, or from the bus. Each move to the L2 may evict from it, even the line that is
/// asked for.
Outcome Hierarchy::exclusive(Access a, Cache::Slot slot) {
    CoreCaches& mine = cores_[a.core];
    Cache& l1 = mine.l1(a.kind);
    if (slot) {
        return hit(a, l1.block(slot));
    }
    const Cache& wrong = a.kind == Kind::ifetch ? mine.l1d : mine.l1i;
    if (const Cache::Slot elsewhere = wrong.find(a.line)) {
        move_to_l2(a.core, wrong, elsewhere);
    }
    if (a.way == kAnyWay) {
        slot = l1.place(a.line);
        l1.touch(slot);
    } else {
        if (const Cache::Slot elsewhere = l1.find(a.line)) {
            move_to_l2(a.core, l1, elsewhere);
        }
        slot = l1.at(a.line, a.way);
    }
    if (l1.line(slot) != kNoLine) {
        move_to_l2(a.core, l1, slot);
    }
    if (const Cache::Slot found = mine.l2.find(a.line)) {
        l1.put(slot, a.line, mine.l2.block(found));
        mine.l2.drop(found);
        return hit(a, l1.block(slot));
    }
    const Filled filled = miss(a);
    l1.put(slot, a.line, filled.block);
    return filled.outcome;
}

void Hierarchy::move_to_l2(unsigned core, const Cache& from, Cache::Slot slot) {
    Cache& l2 = cores_[core].l2;
    const Line line = from.line(slot);
    leaves(core, line);
    const Cache::Slot to = l2.place(line);
    if (const Line victim = l2.line(to); victim != kNoLine) {
        evict(core, victim, l2.block(to));
    }
    l2.put(to, line, from.block(slot));
    l2.touch(to);
    from.drop(slot);
}

}  // namespace s80::model
