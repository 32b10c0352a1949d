// SPDX-License-Identifier: GPL-2.0-or-later
// An organisation of private caches: the L2 of a core holds all lines of its L1s.
#pragma once
#include "memory/private/private.h"

namespace s80::model {

class Inclusive final : public PrivateCaches {
public:
    static constexpr const char* kName = "inclusive";
    using PrivateCaches::PrivateCaches;

    [[gnu::always_inline]] void access(const Access& a, Cache::Slot, Home& home, Outcome& outcome) override {
        CoreCaches& mine = caches(a.core);
        Cache& l2 = mine.l2;
        Cache::Slot slot = l2.find(a.line);
        if (slot) [[likely]] {
            hit(a, l2.block(slot), home, outcome);
        } else {
            const Block block = miss(a, home, outcome);
            slot = make_room(a.core, a.line, home);
            l2.put(slot, a.line, block);
        }
        l2.touch(slot);
        fill_l1(mine, a, l2.block(slot));
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
    /// Puts the line into the L1, or gives it permission. Keeps the L1I and the L1D of one core coherent: a
    /// store drops the copy in the L1I, a fetch takes the permission to store from the L1D, and a load gets
    /// that permission only if the L1I has no copy.
    [[gnu::always_inline]] void fill_l1(CoreCaches& mine, const Access& a, Block& block) {
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
            slot = a.way == kAnyWay ? l1.place(a.line) : l1.slot(a.line, a.way);
            leaves(a.core, l1, slot);
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
};

}  // namespace s80::model
