// SPDX-License-Identifier: GPL-2.0-or-later
#include "inclusive.h"

namespace s80::reference {

InclusiveHierarchy::InclusiveHierarchy(const Machine& machine, const Table& table)
    : Hierarchy(machine, table) {
    for (unsigned core = 0; core < machine.cores; ++core) {
        cores_.push_back({{machine.l1i.sets, machine.l1i.ways},
                          {machine.l1d.sets, machine.l1d.ways},
                          {machine.l2.sets, machine.l2.ways}});
    }
}

L1View InclusiveHierarchy::l1i(unsigned core, Line line) {
    return {cores_[core].l1i.find(line) != nullptr, false};
}

L1View InclusiveHierarchy::l1d(unsigned core, Line line) {
    const Copy* const copy = cores_[core].l1d.find(line);
    return {copy != nullptr, copy != nullptr && copy->writable};
}

RecencySets<InclusiveHierarchy::Copy>& InclusiveHierarchy::l1_of(unsigned core, const Access& access) {
    return access.kind == Kind::ifetch ? cores_[core].l1i : cores_[core].l1d;
}

bool InclusiveHierarchy::l1_has(unsigned core, const Access& access) {
    return l1_of(core, access).find(access.line) != nullptr;
}

bool InclusiveHierarchy::l1_serves(unsigned core, const Access& access) {
    auto& l1 = l1_of(core, access);
    const Copy* const copy = l1.find(access.line);
    if (copy == nullptr || (access.kind == Kind::store && !copy->writable)) {
        return false;
    }
    l1.use(access.line);
    return true;
}

Hierarchy::Service InclusiveHierarchy::beyond_l1(unsigned core, const Access& access) {
    if (machine().organisation == Organisation::inclusive_gem5) {
        return in_gem5_order(core, access);
    }
    auto& l2 = cores_[core].l2;
    Service service = Service::l2;
    if (Block* const block = l2.find(access.line)) {
        service = found(core, access, *block);
        l2.use(access.line);
    } else {
        const auto [serviced, filled] = missed(core, access);
        if (const auto victim = l2.make_room(access.line)) {
            evicted(core, *victim);
            cores_[core].l1i.remove(victim->line);
            cores_[core].l1d.remove(victim->line);
        }
        l2.insert(filled);
        service = serviced;
    }
    fill_l1(core, access, *l2.find(access.line));
    return service;
}

/// Each cache makes room before the next one is asked. A line is in one L1. A store that changes a line of
/// its L1 without a request is not seen by the L2's order.
Hierarchy::Service InclusiveHierarchy::in_gem5_order(unsigned core, const Access& access) {
    auto& l1 = l1_of(core, access);
    auto& l2 = cores_[core].l2;
    const bool in_l1 = l1.find(access.line) != nullptr;
    if (!in_l1) {
        (access.kind == Kind::ifetch ? cores_[core].l1d : cores_[core].l1i).remove(access.line);
        l1.make_room(access.line);
        l1.insert({access.line, false, 0});
    }
    Service service = Service::l2;
    if (Block* const block = l2.find(access.line)) {
        service = found(core, access, *block);
        if (!in_l1 || service != Service::l2) {
            l2.use(access.line);
        }
    } else {
        if (const auto victim = l2.make_room(access.line)) {
            evicted(core, *victim);
            cores_[core].l1i.remove(victim->line);
            cores_[core].l1d.remove(victim->line);
        }
        const auto [serviced, filled] = missed(core, access);
        l2.insert(filled);
        service = serviced;
    }
    const Block& block = *l2.find(access.line);
    *l1.find(access.line) = {access.line, writable(block.state), block.value};
    l1.use(access.line);
    return service;
}

/// The two L1s of a core are coherent: a line may be written in the L1D only while the L1I has no copy.
void InclusiveHierarchy::fill_l1(unsigned core, const Access& access, const Block& block) {
    auto& l1i = cores_[core].l1i;
    auto& l1d = cores_[core].l1d;
    if (access.kind == Kind::store) {
        l1i.remove(access.line);
    }
    if (access.kind == Kind::ifetch) {
        if (Copy* const data = l1d.find(access.line)) {
            data->writable = false;
        }
    }
    auto& l1 = l1_of(core, access);
    l1.remove(access.line);
    l1.make_room(access.line);
    const bool may_write =
        access.kind != Kind::ifetch && writable(block.state) && l1i.find(access.line) == nullptr;
    l1.insert({access.line, may_write, block.value});
}

void InclusiveHierarchy::drop(unsigned core, Line line) {
    cores_[core].l1i.remove(line);
    cores_[core].l1d.remove(line);
    cores_[core].l2.remove(line);
}

void InclusiveHierarchy::state_changed(unsigned core, const Block& block) {
    if (machine().organisation == Organisation::inclusive_gem5) {
        cores_[core].l1i.remove(block.line);
        cores_[core].l1d.remove(block.line);
        return;
    }
    Copy* const data = cores_[core].l1d.find(block.line);
    if (data != nullptr && !writable(block.state)) {
        data->writable = false;
    }
}

std::uint64_t& InclusiveHierarchy::l1_value(unsigned core, const Access& access) {
    return l1_of(core, access).find(access.line)->value;
}

}  // namespace s80::reference
