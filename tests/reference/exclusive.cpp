// SPDX-License-Identifier: GPL-2.0-or-later
#include "exclusive.h"

namespace s80::reference {

ExclusiveHierarchy::ExclusiveHierarchy(const Machine& machine, const Table& table)
    : Hierarchy(machine, table) {
    for (unsigned core = 0; core < machine.cores; ++core) {
        cores_.push_back({{machine.l1i.sets, machine.l1i.ways},
                          {machine.l1d.sets, machine.l1d.ways},
                          {machine.l2.sets, machine.l2.ways}});
    }
}

L1View ExclusiveHierarchy::l1i(unsigned core, Line line) {
    return {cores_[core].l1i.find(line) != nullptr, false};
}

L1View ExclusiveHierarchy::l1d(unsigned core, Line line) {
    const Block* const block = cores_[core].l1d.find(line);
    return {block != nullptr, block != nullptr && writable(block->state)};
}

RecencySets<Block>& ExclusiveHierarchy::l1_of(unsigned core, const Access& access) {
    return access.kind == Kind::ifetch ? cores_[core].l1i : cores_[core].l1d;
}

bool ExclusiveHierarchy::l1_has(unsigned core, const Access& access) {
    return l1_of(core, access).find(access.line) != nullptr;
}

bool ExclusiveHierarchy::l1_serves(unsigned core, const Access& access) {
    auto& l1 = l1_of(core, access);
    const Block* const block = l1.find(access.line);
    if (block == nullptr || (access.kind == Kind::store && !writable(block->state))) {
        return false;
    }
    l1.use(access.line);
    return true;
}

/// Textbooks: the caches are searched, and the line changes places with the victim of the L1.
/// Ruby's order (MOESI_hammer): the other L1 gives the line up first, then the L1 makes room, and only then
/// the L2 is searched. Each step may evict from the L2, the wanted line included.
Hierarchy::Service ExclusiveHierarchy::beyond_l1(unsigned core, const Access& access) {
    auto& l1 = l1_of(core, access);
    if (Block* const block = l1.find(access.line)) {
        l1.use(access.line);
        return found(core, access, *block);
    }
    auto& other = access.kind == Kind::ifetch ? cores_[core].l1d : cores_[core].l1i;
    if (machine().organisation == Organisation::exclusive_textbook) {
        auto taken = cores_[core].l2.remove(access.line);
        taken = taken ? taken : other.remove(access.line);
        if (taken) {
            begin_move(core, access.line);
        }
        if (const auto victim = l1.make_room(access.line)) {
            move_to_l2(core, *victim);
        }
        end_move(core, access.line);
        if (taken) {
            const Service service = found(core, access, *taken);
            l1.insert(*taken);
            return service;
        }
        const auto [service, block] = missed(core, access);
        l1.insert(block);
        return service;
    }
    if (const auto block = other.remove(access.line)) {
        move_to_l2(core, *block);
    }
    if (const auto victim = l1.make_room(access.line)) {
        move_to_l2(core, *victim);
    }
    if (auto block = cores_[core].l2.remove(access.line)) {
        const Service service = found(core, access, *block);
        l1.insert(*block);
        return service;
    }
    const auto [service, block] = missed(core, access);
    l1.insert(block);
    return service;
}

void ExclusiveHierarchy::move_to_l2(unsigned core, const Block& block) {
    begin_move(core, block.line);
    if (const auto victim = cores_[core].l2.make_room(block.line)) {
        evicted(core, *victim);
    }
    cores_[core].l2.insert(block);
    end_move(core, block.line);
}

Block* ExclusiveHierarchy::held(unsigned core, Line line) {
    for (auto* cache : {&cores_[core].l1i, &cores_[core].l1d, &cores_[core].l2}) {
        if (Block* const block = cache->find(line)) {
            return block;
        }
    }
    return nullptr;
}

void ExclusiveHierarchy::drop(unsigned core, Line line) {
    cores_[core].l1i.remove(line);
    cores_[core].l1d.remove(line);
    cores_[core].l2.remove(line);
}

std::uint64_t& ExclusiveHierarchy::l1_value(unsigned core, const Access& access) {
    return l1_of(core, access).find(access.line)->value;
}

}  // namespace s80::reference
