// SPDX-License-Identifier: GPL-2.0-or-later
// The reference's home: last-level cache and directory, as docs/reference/protocols.md describes them.
#include <utility>

#include "hierarchy.h"

namespace s80::reference {

void Hierarchy::request_at_home(const HomeCell& cell, const Access& access, const Written& written,
                                Answer& answer) {
    const Line line = access.line;
    const std::string before = home_state(line);
    const std::string next = cell.after(answer.shared, written.has_value());
    keep(line, next, written);
    if (cell.writeback) {
        count_llc(LlcEvent::writeback, access.process_class);
        memory_[line] = written.value_or(llc_values_[line]);
    }
    if (answer.supplier) {
        answer.value = answer.supplier->value;
    } else if (cell.supply) {
        answer.from_llc = true;
        answer.gives = cell.gives;
        answer.value = llc_values_.at(line);
    } else {
        answer.value = memory_[line];
    }
    answer.shared = answer.shared || cell.grants_shared;
    if (llc_ && llc_->find(line) != nullptr) {
        llc_->use(line);
    }
    enter(line, next);
    if (has_data(next) && !has_data(before)) {
        llc_values_[line] = written.value_or(answer.value);
        fill_llc(line, access.process_class);
    }
}

void Hierarchy::put_at_home(const Block& block, bool writeback, bool others) {
    const std::string before = home_state(block.line);
    const HomeCell& cell = home_cell(table_.put_row(block.state), block.line);
    const std::string next = cell.after(others, writeback);
    keep(block.line, next, writeback ? Written(block.value) : std::nullopt);
    enter(block.line, next);
    if (has_data(next) && !has_data(before)) {
        llc_values_[block.line] = block.value;
        entering_.push_back({block.line, block.process_class});
    }
}

/// What was written back goes to the last-level cache if the next state has data, else to memory.
void Hierarchy::keep(Line line, const std::string& next, const Written& written) {
    if (written) {
        (has_data(next) ? llc_values_ : memory_)[line] = *written;
    }
}

/// The line leaves the tags that its next state does not need.
void Hierarchy::enter(Line line, const std::string& next) {
    if (llc_ && !has_data(next)) {
        llc_->remove(line);
    }
    if (directory_ && !tracked(next)) {
        untracked_.insert(line);
    }
    home_[line] = next;
}

/// Before the home does anything else, the line has an entry of the directory.
void Hierarchy::track(Line line, unsigned process_class) {
    if (!directory_) {
        return;
    }
    if (directory_->find(line) != nullptr) {
        directory_->use(line);
        return;
    }
    if (const auto victim = directory_->make_room(line); victim && tracked(home_state(victim->line))) {
        const bool had_data = has_data(home_state(victim->line));
        const HomeCell& cell = home_cell("recall", victim->line);
        const Written written = recall(victim->line, Cause::directory, process_class);
        const std::string next = cell.after(false, written.has_value());
        keep(victim->line, next, written);
        if (cell.writeback) {
            count_llc(LlcEvent::writeback, process_class);
            memory_[victim->line] = written.value_or(llc_values_[victim->line]);
        }
        enter(victim->line, next);
        if (has_data(next) && !had_data) {
            fill_llc(victim->line, process_class);
        }
    }
    directory_->insert({line});
}

void Hierarchy::fill_llc(Line line, unsigned process_class) {
    if (const auto victim = llc_->make_room(line)) {
        displace(victim->line, process_class);
    }
    llc_->insert({line});
    count_llc(LlcEvent::fill, process_class);
}

void Hierarchy::displace(Line line, unsigned process_class) {
    const HomeCell& cell = home_cell("displace", line);
    const Written written = cell.recall ? recall(line, Cause::llc, process_class) : std::nullopt;
    count_llc(LlcEvent::eviction, process_class);
    const std::string next = cell.after(anybody_holds(line), written.has_value());
    keep(line, next, written);
    if (cell.writeback) {
        count_llc(LlcEvent::writeback, process_class);
        memory_[line] = written.value_or(llc_values_[line]);
    }
    enter(line, next);
}

Hierarchy::Written Hierarchy::recall(Line line, Cause cause, unsigned process_class) {
    const auto number = static_cast<unsigned>(cause);
    counts_.at(Count::recalls, {number, process_class, 0, 0, 0}) += 1;
    Written written;
    for (unsigned agent = 0; agent < machine_.agents(); ++agent) {
        const Block* const block = copy(agent, line);
        if (block == nullptr) {
            continue;
        }
        if (table_.remote_cell("recall", block->state).writeback) {
            count_copy(agent, Count::l2_writebacks, GroupEvent::writeback, *block);
            written = block->value;
        }
        if (block->e_since_fill) {
            e_count(Count::e_invalidated, agent, *block) += 1;
            e_count(Count::e_resident, agent, *block) -= 1;
        }
        count_copy(agent, Count::l2_invalidations, GroupEvent::invalidation, *block);
        if (is_core(agent)) {
            counts_.at(Count::recalled_copies, {agent, number, block->process_class, 0, 0}) += 1;
        } else {
            count_group(GroupEvent::recall, block->process_class);
        }
        recalled_[cause].emplace(agent, line);
        lose(agent, line);
    }
    return written;
}

void Hierarchy::count_after_recall(unsigned core, const Access& access) {
    bool counted = false;
    for (auto& [cause, lost] : recalled_) {
        const auto own = lost.erase({core, access.line});
        const auto of_group = machine_.group ? lost.erase({machine_.group_of(core), access.line}) : 0;
        if (own + of_group != 0 && !std::exchange(counted, true)) {
            count(Count::misses_after_recall, core, access, static_cast<unsigned>(cause)) += 1;
        }
    }
}

/// What was put into the last-level cache during the access gets its way when the access is over. A line that
/// no core holds any more has an entry of the directory until then.
void Hierarchy::settle() {
    for (const Entering& one : std::exchange(entering_, {})) {
        if (has_data(home_state(one.line)) && llc_->find(one.line) == nullptr) {
            fill_llc(one.line, one.process_class);
        }
    }
    for (const Line line : std::exchange(untracked_, {})) {
        if (!tracked(home_state(line))) {
            directory_->remove(line);
        }
    }
}

}  // namespace s80::reference
