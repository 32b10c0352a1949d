// SPDX-License-Identifier: GPL-2.0-or-later
// An organisation of private caches: L1I, L1D and L2 of a core never hold the same line. A block moves
// between them together with its state; a line that an L1 evicts moves to the L2. There are two orders of
// these moves, which choose different victims.
#pragma once
#include "memory/private/private.h"

namespace s80::model {

/// gem5: the order of gem5's MOESI_hammer. The L1 makes room before the L2 is searched, so a full L2 may
/// evict the line that is asked for. textbook: the L2 is searched first. A line that it holds changes places
/// with the victim of the L1, so the L1 and the L2 together have the capacity of both.
enum class MoveOrder : std::uint8_t { gem5, textbook };

template <MoveOrder kOrder>
class Exclusive final : public PrivateCaches {
public:
    static constexpr const char* kName = kOrder == MoveOrder::gem5 ? "exclusive" : "exclusive-textbook";
    using PrivateCaches::PrivateCaches;

    /// A line in the other L1 (L1I for data, L1D for code) first moves to the L2. Each move to the L2 may
    /// evict a line there.
    void access(const Access& a, Cache::Slot slot, Home& home, Outcome& outcome) override {
        CoreCaches& mine = caches(a.core);
        Cache& l1 = mine.l1(a.kind);
        if (slot) {
            hit(a, l1.block(slot), home, outcome);
            return;
        }
        Block block;
        bool found = false;
        if constexpr (kOrder == MoveOrder::textbook) {
            found = take(a, block);
            slot = room(a, home);
        } else {
            const Cache& wrong = a.kind == Kind::ifetch ? mine.l1d : mine.l1i;
            if (const Cache::Slot elsewhere = wrong.find(a.line)) {
                move_to_l2(a.core, wrong, elsewhere, home);
            }
            slot = room(a, home);
            found = take(a, block);
        }
        if (found) {
            l1.put(slot, a.line, block);
            hit(a, l1.block(slot), home, outcome);
        } else {
            l1.put(slot, a.line, miss(a, home, outcome));
        }
    }

    void host_prefetch_snoop(CoreSet cores, Line line) const override {
        for (const unsigned core : cores) {
            const CoreCaches& theirs = caches(core);
            theirs.l2.host_prefetch(line);
            theirs.l1d.host_prefetch(line);
            theirs.l1i.host_prefetch(line);
        }
    }
    std::size_t capacity(const Machine& machine) const override {
        return (machine.l2.bytes + machine.l1i.bytes + machine.l1d.bytes) / machine.line_bytes;
    }

private:
    /// Removes the line from the cache of this core that holds it, and gets its block. Returns false if none
    /// holds it. In gem5's order, only the L2 can hold the line at this point.
    bool take(const Access& a, Block& block) {
        CoreCaches& mine = caches(a.core);
        for (const Cache* cache : {&mine.l2, &mine.l1d, &mine.l1i}) {
            if (const Cache::Slot found = cache->find(a.line)) {
                block = cache->block(found);
                cache->drop(found);
                return true;
            }
            if (kOrder == MoveOrder::gem5) {
                break;
            }
        }
        return false;
    }

    /// The slot of the L1 for the line. The block that was there has moved to the L2.
    Cache::Slot room(const Access& a, Home& home) {
        Cache& l1 = caches(a.core).l1(a.kind);
        Cache::Slot slot = l1.slot(a.line, a.way);
        if (a.way == kAnyWay) {
            slot = l1.place(a.line);
            l1.touch(slot);
        } else if (const Cache::Slot elsewhere = l1.find(a.line)) {
            move_to_l2(a.core, l1, elsewhere, home);
        }
        if (l1.line(slot) != kNoLine) {
            move_to_l2(a.core, l1, slot, home);
        }
        return slot;
    }

    void move_to_l2(unsigned core, const Cache& from, Cache::Slot slot, Home& home) {
        const Cache& l2 = caches(core).l2;
        const Line line = from.line(slot);
        leaves(core, line);
        const Cache::Slot to = make_room(core, line, home);
        l2.put(to, line, from.block(slot));
        l2.touch(to);
        from.drop(slot);
    }
};

}  // namespace s80::model
