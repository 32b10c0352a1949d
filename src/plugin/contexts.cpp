// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/contexts.h"

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

Contexts::Contexts(const Arguments& arguments, const Vcpus& vcpus, GuestRam& ram)
    : vcpus_(vcpus), running_(vcpus.lanes().size()) {
    if (!arguments.kernel.empty()) {
        tasks_.emplace(Kernel::load(arguments.kernel), Classes::load(arguments.classes), ram);
    }
}

bool Contexts::attend(Lane& lane) {
    if (!lane.bound()) {
        return false;
    }
    if ((lane.attention & kAddressSpace) != 0) {
        lane.translations.page_table = read_register(Register::cr3) & ~kPageMask;
        look_at_party(lane);
    }
    if ((lane.attention & kTask) != 0) {
        look_at_task(lane);
    }
    lane.attention = 0;
    return true;
}

void Contexts::change(Lane& lane, Context context) {
    lane.set_context(context);
    if (tasks_ && context.entry() == Entry::user) {  // whatever the kernel was entered by is left
        running_[lane.processor].frames.clear();
        show(lane);
    }
}

void Contexts::show(Lane& lane) {
    const Running& running = running_[lane.processor];
    lane.contexts = {running.user_context(), running.kernel_context()};
    if (notes_ != nullptr) {
        notes_->runs(lane, running);
    }
}

void Contexts::look_at_task(Lane& lane) {
    if (tasks_) {
        tasks_->look(running_[lane.processor], vcpus_.area(lane.processor), lane.translations.page_table);
        show(lane);
    }
}

void Contexts::look_at_party(Lane& lane) const {
    if (!tasks_) {
        const auto it = parties_.find(lane.translations.page_table);
        const Party party = party_of_marker(it == parties_.end() ? 0 : it->second);
        lane.contexts = {Context(Privilege::user, party), Context(Privilege::kernel, party)};
    }
}

void Contexts::set_party(std::uint8_t party) {
    parties_[read_register(Register::cr3) & ~kPageMask] = party;
    for (const auto& each : vcpus_.lanes()) {  // others may have borrowed this address space
        if (each->bound()) {
            each->attention |= kAddressSpace;
        }
    }
}

void Contexts::task_switched(Lane& lane) {
    if (lane.bound()) {
        lane.attention |= kTask;
    }
}

void Contexts::kernel_entered(Lane& lane, Entry entry) {
    Frames& frames = running_[lane.processor].frames;
    Frame frame{entry, 0, 0};
    if (entry == Entry::system_call) {
        frames.clear();
        frame.system_call = static_cast<std::uint16_t>(read_register(Register::rax));
    } else if (entry == Entry::soft_interrupt) {
        frame.stack = read_register(Register::rsp);
    }
    frames.push(frame);
    show(lane);
}

void Contexts::interrupt_returns(Lane& lane) {
    if (lane.bound()) {
        running_[lane.processor].frames.pop();
        show(lane);
    }
}

/// The function returns where its stack is as it was when it began.
void Contexts::soft_interrupts_may_end(Lane& lane) {
    if (!lane.bound()) {
        return;
    }
    Frames& frames = running_[lane.processor].frames;
    if (!frames.empty() && frames.top().entry == Entry::soft_interrupt &&
        frames.top().stack == read_register(Register::rsp)) {
        frames.pop();
        show(lane);
    }
}

}  // namespace s80::plugin
