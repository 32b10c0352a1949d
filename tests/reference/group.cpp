// SPDX-License-Identifier: GPL-2.0-or-later
// The reference's group caches, as docs/reference/protocols.md describes them.
#include "hierarchy.h"

namespace s80::reference {

/// The block of a core or group cache; null when it has none.
Block* Hierarchy::copy(unsigned agent, Line line) {
    return is_core(agent) ? held(agent, line) : groups_[agent - machine_.cores].find(line);
}

void Hierarchy::lose(unsigned agent, Line line) {
    if (is_core(agent)) {
        drop(agent, line);
    } else {
        groups_[agent - machine_.cores].remove(line);
    }
}

/// A core that misses asks its group cache first. The block moves to the core and keeps its state.
std::optional<Block> Hierarchy::take_from_group(unsigned core, Line line) {
    if (!machine_.group) {
        return std::nullopt;
    }
    const auto block = groups_[machine_.group_of(core) - machine_.cores].remove(line);
    if (block) {
        count_group(GroupEvent::hit, block->process_class);
    }
    return block;
}

/// What the L2 evicts moves to the group cache and keeps its state. If the group cache has a copy, the one
/// whose state stands later in the table is evicted; of equal states, the L2's.
void Hierarchy::move_to_group(unsigned core, Block block) {
    const unsigned group = machine_.group_of(core);
    auto& cache = groups_[group - machine_.cores];
    if (const Block* const there = cache.find(block.line)) {
        if (table_.rank(there->state) <= table_.rank(block.state)) {
            cache.use(block.line);
            given_up(core, block);
            return;
        }
        const Block weaker = *cache.remove(block.line);
        begin_move(core, block.line);
        leave_group(group, weaker);
        end_move(core, block.line);
    } else if (const auto victim = cache.make_room(block.line)) {
        leave_group(group, *victim);
    }
    block.e_since_fill = false;
    cache.insert(block);
    count_group(GroupEvent::fill, block.process_class);
}

/// A group cache evicts a block.
void Hierarchy::leave_group(unsigned group, const Block& block) {
    count_group(GroupEvent::eviction, block.process_class);
    if (table_.own_cell("evict", block.state).writeback) {
        count_group(GroupEvent::writeback, block.process_class);
    }
    given_up(group, block);
}

}  // namespace s80::reference
