// SPDX-License-Identifier: GPL-2.0-or-later
// A core whose L2 holds all lines of its L1s, with the order of gem5's MESI_Three_Level.
#pragma once
#include "memory/private/private.h"

namespace s80::model {

/// It differs from `Inclusive` in four points:
/// 1. The L1 and then the L2 make room before the home learns of the request.
/// 2. A line is in one of the L1s at most.
/// 3. A copy that another core's request downgrades leaves the L1.
/// 4. A store that finds its line in the L1 and needs no request does not change the order of the L2.
class InclusiveGem5 final : public PrivateCaches {
public:
    static constexpr const char* kName = "inclusive-gem5";
    using PrivateCaches::PrivateCaches;

    void access(const Access& a, Cache::Slot slot, Home& home, Outcome& outcome) override {
        CoreCaches& mine = caches(a.core);
        Cache& l1 = mine.l1(a.kind);
        Cache& l2 = mine.l2;
        const bool in_l1 = static_cast<bool>(slot);
        if (!in_l1) {
            slot = room(a);
        }
        Cache::Slot below = l2.find(a.line);
        if (below) {
            hit(a, l2.block(below), home, outcome);
        } else {
            below = make_room(a.core, a.line, home);
            l2.put(below, a.line, miss(a, home, outcome));
        }
        if (!in_l1 || outcome.request != Bus::none) {
            l2.touch(below);
        }
        Block& block = l2.block(below);
        block.was_in_l1i = block.was_in_l1i || a.kind == Kind::ifetch;
        block.was_in_l1d = block.was_in_l1d || a.kind != Kind::ifetch;
        l1.put(slot, a.line, Block{.writable = block.writable});
    }

    void host_prefetch_snoop(CoreSet cores, Line line) const override {
        for (const unsigned core : cores) {
            caches(core).l2.host_prefetch(line);
        }
    }
    std::size_t capacity(const Machine& machine) const override {
        return machine.l2.bytes / machine.line_bytes;
    }

private:
    void downgraded(unsigned core, Line line, const Block& block) const override {
        drop_from_l1s(core, line, block);
    }

    /// An empty slot of the L1 for the line. The line leaves the other L1.
    Cache::Slot room(const Access& a) {
        CoreCaches& mine = caches(a.core);
        (a.kind == Kind::ifetch ? mine.l1d : mine.l1i).drop(a.line);
        Cache& l1 = mine.l1(a.kind);
        Cache::Slot slot = l1.slot(a.line, a.way);
        if (a.way == kAnyWay) {
            slot = l1.place(a.line);
            l1.touch(slot);
        } else {
            l1.drop(a.line);
        }
        leaves(a.core, l1, slot);
        l1.drop(slot);
        return slot;
    }
};

}  // namespace s80::model
