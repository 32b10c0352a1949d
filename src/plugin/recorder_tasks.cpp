// SPDX-License-Identifier: GPL-2.0-or-later
// Process class and kernel entry cause of the code on a processor: from its task, or, if the kernel layout
// is not known, from the markers about the address space.
#include "plugin/recorder.h"
#include "plugin/registers.h"

namespace s80::plugin {

using model::Context;
using model::Entry;
using model::Party;
using model::Privilege;

namespace {

/// What the marker CLASS calls a class, as the model does.
Party party_of_marker(std::uint8_t number) {
    constexpr std::uint8_t kLoadgen = 1;
    constexpr std::uint8_t kOther = 2;
    return number == kLoadgen ? Party::loadgen : number == kOther ? Party::other : Party::session;
}

}  // namespace

/// Code of another context runs from here on.
void Recorder::change_context(Lane& lane, Context context) {
    lane.set_context(context);
    if (tasks_ && context.entry() == Entry::user) {  // whatever the kernel was entered by is left
        running_[lane.processor].frames.clear();
        show_contexts(lane);
    }
}

void Recorder::show_contexts(Lane& lane) {
    const Running& running = running_[lane.processor];
    lane.contexts = {running.user_context(), running.kernel_context()};
    note_who(lane);
}

void Recorder::look_at_task(Lane& lane) {
    if (tasks_) {
        tasks_->look(running_[lane.processor], per_cpu_[lane.processor], lane.translations.page_table);
        show_contexts(lane);
    }
}

void Recorder::look_at_party(Lane& lane) {
    if (!tasks_) {
        const auto it = parties_.find(lane.translations.page_table);
        const Party party = party_of_marker(it == parties_.end() ? 0 : it->second);
        lane.contexts = {Context(Privilege::user, party), Context(Privilege::kernel, party)};
    }
}

void Recorder::task_switched(Lane& lane) {
    if (lane.bound()) {
        lane.attention |= kTask;
    }
}

void Recorder::kernel_entered(Lane& lane, Entry entry) {
    Frames& frames = running_[lane.processor].frames;
    Frame frame{entry, 0, 0};
    if (entry == Entry::system_call) {
        frames.clear();
        frame.system_call = static_cast<std::uint16_t>(read_register(Register::rax));
    } else if (entry == Entry::soft_interrupt) {
        frame.stack = read_register(Register::rsp);
    }
    frames.push(frame);
    show_contexts(lane);
}

void Recorder::interrupt_returns(Lane& lane) {
    if (lane.bound()) {
        running_[lane.processor].frames.pop();
        show_contexts(lane);
    }
}

Mappings::Place Recorder::here(const Lane& lane) const {
    Mappings::Place place{windows_->number(), std::nullopt, 0};
    if (lane.bound()) {
        place.processor = lane.processor;
        place.position = lane.stream.position();
    }
    return place;
}

void Recorder::allocation_begins(Allocations::Size size) {
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

void Recorder::allocation_ends() {
    const Lane& lane = *current_lane;
    const Allocations::Return call{read_register(Register::cr3) & ~kPageMask, read_register(Register::rsp),
                                   read_register(Register::rax)};
    const auto object = allocations_.returned(call, [this, &call](std::uint64_t address) {
        return read_virtual<std::uint64_t>(ram_, call.table, address).value_or(0);
    });
    if (object && lane.bound()) {
        mappings_->allocated(running_[lane.processor].task.tgid, *object, here(lane));
    }
}

/// Processes begin before the processors are bound, so the registers tell which processor calls.
void Recorder::process_changes(Mappings::Hook hook) {
    const Mappings::Call call{read_register(Register::cr3) & ~kPageMask,
                              read_register(Register::gs_base),
                              read_register(Register::rdi),
                              read_register(Register::rsi),
                              read_register(Register::rdx),
                              read_register(Register::rcx),
                              read_register(Register::fs_base)};
    Lane& lane = *current_lane;
    if (hook == Mappings::Hook::comm) {
        lane.attention |= kTask;  // its name is another
    }
    mappings_->called(hook, call, here(lane));
}

/// The function that handles soft interrupts returns where its stack is as it was when it began.
void Recorder::soft_interrupts_may_end(Lane& lane) {
    if (!lane.bound()) {
        return;
    }
    Frames& frames = running_[lane.processor].frames;
    if (!frames.empty() && frames.top().entry == Entry::soft_interrupt &&
        frames.top().stack == read_register(Register::rsp)) {
        frames.pop();
        show_contexts(lane);
    }
}

}  // namespace s80::plugin
