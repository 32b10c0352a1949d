// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/processes.h"

#include "plugin/page_walk.h"
#include "plugin/registers.h"

namespace s80::plugin {

namespace {

/// The place in the streams of something that happens now on `vcpu`.
Mappings::Place here(const Vcpu& vcpu, std::uint64_t epoch) {
    Mappings::Place place{epoch, std::nullopt, 0};
    if (vcpu.bound()) {
        place.processor = vcpu.processor;
        place.position = vcpu.stream.position();
    }
    return place;
}

}  // namespace

Processes::Processes(const Arguments& arguments, GuestRam& ram)
    : ram_(ram), allocations_(arguments.allocations) {
    if (!arguments.mappings.empty()) {
        mappings_ = std::make_unique<Mappings>(arguments.mappings, arguments.kernel, ram);
    }
}

void Processes::observe(model::TimingMerger& merger, const model::Machine& machine) {
    if (mappings_) {
        mappings_->observe(merger, machine);
    }
}

void Processes::finish() {
    if (mappings_) {
        mappings_->finish();
    }
}

/// Records the event with the register GS base, by which Mappings finds the current task. The vCPU context
/// does not always know the task: the first processes begin before the vCPUs are bound.
void Processes::changes(Mappings::Hook hook, Vcpu& vcpu, std::uint64_t epoch) {
    const Mappings::Call call{read_register(Register::cr3) & ~kPageMask,
                              read_register(Register::gs_base),
                              read_register(Register::rdi),
                              read_register(Register::rsi),
                              read_register(Register::rdx),
                              read_register(Register::rcx),
                              read_register(Register::fs_base)};
    if (hook == Mappings::Hook::comm) {
        vcpu.attention |= kTask;  // the name of the task may have changed
    }
    mappings_->called(hook, call, here(vcpu, epoch));
}

void Processes::allocation_begins(Allocations::Size size) {
    Allocations::Call call;
    call.table = read_register(Register::cr3) & ~kPageMask;
    const std::uint64_t stack = read_register(Register::rsp);
    call.stack = stack + sizeof(std::uint64_t);
    call.first = read_register(Register::rdi);
    call.second = read_register(Register::rsi);
    call.third = read_register(Register::rdx);
    call.caller = read_virtual<std::uint64_t>(ram_, call.table, stack).value_or(0);
    allocations_.entered(size, call, walk_page_tables(ram_, call.table, call.caller, [](std::uint64_t) {}));
}

void Processes::allocation_ends(const Vcpu& vcpu, const Running& running, std::uint64_t epoch) {
    const Allocations::Return call{read_register(Register::cr3) & ~kPageMask, read_register(Register::rsp),
                                   read_register(Register::rax)};
    const auto object = allocations_.returned(call, [this, &call](std::uint64_t address) {
        return read_virtual<std::uint64_t>(ram_, call.table, address).value_or(0);
    });
    if (object && vcpu.bound()) {
        mappings_->allocated(running.task.tgid, *object, here(vcpu, epoch));
    }
}

}  // namespace s80::plugin
