// SPDX-License-Identifier: GPL-2.0-or-later
#include "hierarchy.h"

#include "exclusive.h"
#include "inclusive.h"

namespace s80::reference {

namespace {

/// A page walk is a load.
const char* own_event(Kind kind) {
    return kind == Kind::ifetch ? "fetch" : kind == Kind::store ? "store" : "load";
}

/// Index into `dims.source`: memory M O E S llc group.
unsigned source_index(const std::string& counts_as) {
    return 1 + static_cast<unsigned>(std::string("MOES").find(counts_as));
}

/// Index into `dims.state`: M O E S.
unsigned state_index(const std::string& counts_as) {
    return static_cast<unsigned>(std::string("MOES").find(counts_as));
}

}  // namespace

Hierarchy::Hierarchy(const Machine& machine, const Table& table) : machine_(machine), table_(table) {
    if (machine.llc) {
        llc_.emplace(machine.llc->sets, machine.llc->ways);
    }
    if (machine.directory) {
        directory_.emplace(machine.directory->sets, machine.directory->ways);
    }
    for (unsigned group = machine.cores; group < machine.agents(); ++group) {
        groups_.emplace_back(machine.group->sets, machine.group->ways);
    }
}

std::unique_ptr<Hierarchy> Hierarchy::make(const Machine& machine, const Table& table) {
    if (machine.organisation == Organisation::exclusive_gem5 ||
        machine.organisation == Organisation::exclusive_textbook) {
        return std::make_unique<ExclusiveHierarchy>(machine, table);
    }
    return std::make_unique<InclusiveHierarchy>(machine, table);
}

unsigned Hierarchy::access(const Access& access) {
    const unsigned core = access.processor / machine_.threads_per_core;
    unsigned stall = 0;
    if (!l1_serves(core, access)) {
        count(Count::l1_misses, core, access) += l1_has(core, access) ? 0 : 1;
        count(Count::l2_accesses, core, access) += 1;
        const Service service = beyond_l1(core, access);
        const unsigned cycles[] = {machine_.l2_hit,
                                   machine_.memory,
                                   machine_.cache,
                                   machine_.upgrade,
                                   machine_.llc_hit,
                                   machine_.group_hit,
                                   machine_.group_hit + machine_.upgrade};
        constexpr unsigned places[] = {0, 1, 2, 3, 6, 7, 7};  // in dims.service
        stall = cycles[static_cast<unsigned>(service)];
        count(Count::stall_cycles, core, access, places[static_cast<unsigned>(service)]) += stall;
        check_single_writer(access.line);
    }
    // A store writes a part of the line: it too needs the rest as it was stored last.
    std::uint64_t& value = l1_value(core, access);
    if (value != last_stored_[access.line]) {
        throw Unsound("core " + std::to_string(core) + " has a value of line " + std::to_string(access.line) +
                      " that is not the last one stored");
    }
    if (access.kind == Kind::store) {
        if (!writable(state(core, access.line))) {
            throw Unsound("core " + std::to_string(core) + " stored to line " + std::to_string(access.line) +
                          " in a state that is not writable");
        }
        value = ++stores_;
        held(core, access.line)->value = value;
        last_stored_[access.line] = value;
    }
    settle();
    return stall;
}

std::string Hierarchy::state(unsigned agent, Line line) {
    const Block* const block = copy(agent, line);
    return block == nullptr ? table_.invalid : block->state;
}

Hierarchy::Service Hierarchy::found(unsigned core, const Access& access, Block& block) {
    const OwnCell& cell = table_.own_cell(own_event(access.kind), block.state);
    if (access.kind == Kind::store && counts_as_e(block.state)) {
        count(Count::stores_found_e, core, access) += 1;
    }
    Service service = Service::l2;
    std::string next = cell.next_alone;
    if (!cell.bus.empty()) {
        count(Count::upgrades, core, access) += 1;
        const Answer answer = ask(core, cell.bus, access);
        if (cell.bus == "rfo" && answer.supplier) {  // it asks for data that it has, and gets them
            count_supply(answer.supplier->core, access);
        }
        next = answer.shared ? cell.next_shared : cell.next_alone;
        service = Service::upgrade;
    }
    if (block.e_since_fill && !counts_as_e(next)) {
        block.e_since_fill = false;
        e_count(Count::e_to_m, core, block) += 1;
        e_count(Count::e_resident, core, block) -= 1;
    }
    block.state = next;
    return service;
}

std::pair<Hierarchy::Service, Block> Hierarchy::missed(unsigned core, const Access& access) {
    if (auto moved = take_from_group(core, access.line)) {
        count_after_recall(core, access);
        auto [service, block] = entered(core, access, *moved, Service::moved, 6);
        if (found(core, access, block) == Service::upgrade) {
            service = Service::moved_and_upgrade;
        }
        return {service, block};
    }
    const OwnCell& cell = table_.own_cell(own_event(access.kind), table_.invalid);
    const Answer answer = ask(core, cell.bus, access);
    Block block;
    block.line = access.line;
    block.state = answer.shared ? cell.next_shared : cell.next_alone;
    block.value = answer.value;
    Service service = answer.from_llc ? Service::llc : Service::memory;
    unsigned source = answer.from_llc ? 5 : 0;
    if (!answer.gives.empty()) {
        block.state = answer.gives;
    }
    count_after_recall(core, access);
    if (answer.supplier) {
        const Supplier& supplier = *answer.supplier;
        block.state = supplier.gives.empty() ? block.state : supplier.gives;
        service = Service::cache;
        source = source_index(table_.facts.at(supplier.state).counts_as);
        count_supply(supplier.core, access);
    }
    return entered(core, access, block, service, source);
}

/// The block enters the core.
std::pair<Hierarchy::Service, Block> Hierarchy::entered(unsigned core, const Access& access, Block block,
                                                        Service service, unsigned source) {
    block.e_since_fill = counts_as_e(block.state);
    block.process_class = access.process_class;
    e_count(Count::e_resident, core, block) += block.e_since_fill ? 1 : 0;
    count(Count::l2_misses, core, access) += 1;
    count(Count::miss_source, core, access, source) += 1;
    const auto state = state_index(table_.facts.at(block.state).counts_as);
    counts_.at(Count::fills, {core, access.process_class, static_cast<unsigned>(access.kind), state, 0}) += 1;
    return {service, block};
}

void Hierarchy::evicted(unsigned core, const Block& block) {
    count(Count::l2_evictions, core) += 1;
    const OwnCell& cell = table_.own_cell("evict", block.state);
    if (cell.writeback) {
        count(Count::l2_writebacks, core) += 1;
    }
    if (block.e_since_fill) {
        e_count(Count::e_evicted, core, block) += 1;
        e_count(Count::e_resident, core, block) -= 1;
    }
    if (machine_.group) {
        move_to_group(core, block);
    } else {
        given_up(core, block);
    }
}

/// The block leaves a core or group cache, and does not move to another one.
void Hierarchy::given_up(unsigned agent, const Block& block) {
    const OwnCell& cell = table_.own_cell("evict", block.state);
    if (table_.absent.empty()) {
        memory_[block.line] = cell.writeback ? block.value : memory_[block.line];
    } else if (cell.put) {
        put_at_home(block, cell.writeback, others_hold(agent, block.line));
    }
}

/// Every other core that holds the line snoops the request, unless the last-level cache answers a read alone.
Hierarchy::Answer Hierarchy::ask(unsigned core, const std::string& request, const Access& access) {
    const Line line = access.line;
    Answer answer;
    Written written;
    const HomeCell* home = nullptr;
    if (!table_.absent.empty()) {
        track(line, access.process_class);
        home = &home_cell(request == "read" && access.kind == Kind::ifetch ? "fetch" : request, line);
    }
    const bool first = home != nullptr && home->first;
    for (unsigned other = 0; other < machine_.agents(); ++other) {
        Block* const block = other == core ? nullptr : copy(other, line);
        if (block == nullptr) {
            continue;
        }
        if (first && request == "read") {
            answer.shared = true;
            continue;
        }
        const RemoteCell& cell = table_.remote_cell(request, block->state);
        // Of several the first state of the file supplies, then the lowest core.
        if (cell.supply && !first &&
            (!answer.supplier || table_.rank(block->state) < table_.rank(answer.supplier->state))) {
            answer.supplier = Supplier{other, block->state, cell.gives, block->value};
        }
        if (cell.writeback) {
            count_copy(other, Count::l2_writebacks, GroupEvent::writeback, *block);
            written = block->value;
        }
        const bool leaves = cell.next == table_.invalid;
        if (block->e_since_fill && !counts_as_e(cell.next)) {
            block->e_since_fill = false;
            e_count(leaves ? Count::e_invalidated : Count::e_downgraded, other, *block) += 1;
            e_count(Count::e_resident, other, *block) -= 1;
        }
        if (leaves) {
            count_copy(other, Count::l2_invalidations, GroupEvent::invalidation, *block);
            lose(other, line);
        } else {
            answer.shared = true;
            const bool changed = block->state != cell.next;
            block->state = cell.next;
            if (changed && is_core(other)) {
                state_changed(other, *block);
            }
        }
    }
    if (home != nullptr) {
        request_at_home(*home, access, written, answer);
    } else {
        memory_[line] = written.value_or(memory_[line]);
        answer.value = answer.supplier ? answer.supplier->value : memory_[line];
    }
    return answer;
}

bool Hierarchy::others_hold(unsigned agent, Line line) {
    for (unsigned other = 0; other < machine_.agents(); ++other) {
        if (other != agent && (copy(other, line) != nullptr || moving_.contains({other, line}))) {
            return true;
        }
    }
    return false;
}

void Hierarchy::check_single_writer(Line line) {
    unsigned holders = 0;
    unsigned writers = 0;
    for (unsigned agent = 0; agent < machine_.agents(); ++agent) {
        if (const Block* const block = copy(agent, line)) {
            holders += 1;
            writers += writable(block->state) ? 1 : 0;
        }
    }
    if (writers != 0 && holders != 1) {
        throw Unsound("line " + std::to_string(line) + " is writable in one place while another holds it");
    }
}

std::uint64_t& Hierarchy::count(Count which, unsigned core, const Access& access, unsigned last) {
    switch (which) {
        case Count::upgrades:
        case Count::stores_found_e:
            return counts_.at(which, {core, access.privilege, access.process_class, 0, 0});
        default:
            return counts_.at(which, {core, access.privilege, access.process_class,
                                      static_cast<unsigned>(access.kind), last});
    }
}

}  // namespace s80::reference
