// SPDX-License-Identifier: GPL-2.0-or-later
// Group caches in front of a home: caches that the cores of a group share. A group cache takes what its L2s
// evict, and gives it back when one of its cores misses. It is one more agent of the protocol's table, with a
// number after those of the cores, so the home snoops and recalls it like the private caches of a core.
#pragma once
#include "memory/home/home.h"

namespace s80::model {

/// When a block moves between an L2 and its group cache, it keeps its state. The table has no such event.
template <class Base>
class Grouped final : public Base {
public:
    using Base::Base;

    /// If the group cache has the line, it gives the block up, and the home does not learn of the request.
    Reply request(const Access& a, Bus bus, Outcome& outcome) override {
        const unsigned group = machine().group_cache(a.core);
        const CoreSet holders = parts_.sharers.cores(a.line);
        if (holders.has(group) && !holders.has(a.core)) {
            return take(a, group, outcome);
        }
        const Reply reply = Base::request(a, bus, outcome);
        if (outcome.supplier != kNobody && machine().is_group_cache(outcome.supplier)) {
            ++parts_.stats.group_block(GroupEvent::supply, a.context.process_class());
        }
        return reply;
    }

    /// The victim of an L2 moves to the group cache. If the group cache has a copy already, one of them is
    /// evicted: the copy in the group cache if its state stands later in the table.
    void evicted(unsigned agent, Line line, Block block) override {
        if (machine().is_group_cache(agent)) {
            Base::evicted(agent, line, block);
            return;
        }
        const unsigned group = machine().group_cache(agent);
        Cache& cache = parts_.cores[group].l2;
        Cache::Slot slot = cache.find(line);
        if (slot && cache.block(slot).state <= block.state) {
            cache.touch(slot);
            Base::evicted(agent, line, block);
            return;
        }
        if (!slot) {
            slot = cache.place(line);
        }
        if (const Line victim = cache.line(slot); victim != kNoLine) {
            Block left = cache.block(slot);
            parts_.caches.evict(group, victim, left, *this);
        }
        move(line, agent, group);
        cache.put(slot, line,
                  {.state = block.state, .writable = block.writable, .process_class = block.process_class});
        cache.filled(slot);
        ++parts_.stats.group_block(GroupEvent::fill, static_cast<ProcessClass>(block.process_class));
    }

private:
    using Base::parts_;

    const Machine& machine() const { return parts_.machine; }

    Reply take(const Access& a, unsigned group, Outcome& outcome) {
        const Cache& cache = parts_.cores[group].l2;
        const Cache::Slot slot = cache.find(a.line);
        const Block block = cache.block(slot);
        this->count_after_recall(a, outcome);
        move(a.line, group, a.core);
        cache.drop(slot);
        ++parts_.stats.group_block(GroupEvent::hit, static_cast<ProcessClass>(block.process_class));
        outcome.had_copies = parts_.sharers.cores(a.line).without(a.core);
        outcome.place = Place::group;
        outcome.stall = parts_.topology.group(a.core);
        Reply reply;
        reply.moved = true;
        reply.gives = true;
        reply.given = block.state;
        return reply;
    }

    void move(Line line, unsigned from, unsigned to) {
        if (MoveListener* const listener = parts_.caches.listener(); listener != nullptr) [[unlikely]] {
            listener->moving(from, to, line);
        }
        parts_.sharers.remove(line, from);
        parts_.sharers.add(line, to);
    }
};

}  // namespace s80::model
