// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/contexts.h"

#include "plugin/registers.h"

namespace s80::plugin {

using model::Context;
using model::KernelEntry;
using model::Privilege;
using model::ProcessClass;

namespace {

/// The process class for the number in a marker CLASS.
ProcessClass class_of_marker(std::uint8_t number) {
    constexpr std::uint8_t kLoadgen = 1;
    constexpr std::uint8_t kOther = 2;
    return number == kLoadgen ? ProcessClass::loadgen
           : number == kOther ? ProcessClass::other
                              : ProcessClass::session;
}

}  // namespace

Contexts::Contexts(const Arguments& arguments, const Vcpus& vcpus, GuestRam& ram)
    : vcpus_(vcpus), running_(vcpus.vcpus().size()) {
    if (!arguments.kernel.empty()) {
        tasks_.emplace(Kernel::load(arguments.kernel), Classes::load(arguments.classes), ram);
    }
}

bool Contexts::attend(Vcpu& vcpu) {
    if (!vcpu.bound()) {
        return false;
    }
    if ((vcpu.attention & kAddressSpace) != 0) {
        vcpu.translations.page_table = read_register(Register::cr3) & ~kPageMask;
        look_at_address_space(vcpu);
    }
    if ((vcpu.attention & kTask) != 0) {
        look_at_task(vcpu);
    }
    vcpu.attention = 0;
    return true;
}

void Contexts::change(Vcpu& vcpu, Context context) {
    vcpu.set_context(context);
    // The processor returns to user code, so no entry into the kernel is open.
    if (tasks_ && context.entry() == KernelEntry::user) {
        running_[vcpu.processor].frames.clear();
        show(vcpu);
    }
}

void Contexts::show(Vcpu& vcpu) {
    const Running& running = running_[vcpu.processor];
    vcpu.contexts = {running.user_context(), running.kernel_context()};
    if (notes_ != nullptr) {
        notes_->runs(vcpu, running);
    }
}

void Contexts::look_at_task(Vcpu& vcpu) {
    if (tasks_) {
        tasks_->look(running_[vcpu.processor], vcpus_.area(vcpu.processor), vcpu.translations.page_table);
        show(vcpu);
    }
}

void Contexts::look_at_address_space(Vcpu& vcpu) const {
    if (!tasks_) {
        const auto it = process_classes_.find(vcpu.translations.page_table);
        const ProcessClass process_class = class_of_marker(it == process_classes_.end() ? 0 : it->second);
        vcpu.contexts = {Context(Privilege::user, process_class), Context(Privilege::kernel, process_class)};
    }
}

void Contexts::set_process_class(std::uint8_t process_class) {
    process_classes_[read_register(Register::cr3) & ~kPageMask] = process_class;
    // Other processors may run kernel threads in this address space.
    for (const auto& each : vcpus_.vcpus()) {
        if (each->bound()) {
            each->attention |= kAddressSpace;
        }
    }
}

void Contexts::task_switched(Vcpu& vcpu) {
    if (vcpu.bound()) {
        vcpu.attention |= kTask;
    }
}

void Contexts::kernel_entered(Vcpu& vcpu, KernelEntry entry) {
    Frames& frames = running_[vcpu.processor].frames;
    Frame frame{entry, 0, 0};
    if (entry == KernelEntry::system_call) {
        frames.clear();
        frame.system_call = static_cast<std::uint16_t>(read_register(Register::rax));
    } else if (entry == KernelEntry::soft_interrupt) {
        frame.stack = read_register(Register::rsp);
    }
    frames.push(frame);
    show(vcpu);
}

void Contexts::interrupt_returns(Vcpu& vcpu) {
    if (vcpu.bound()) {
        running_[vcpu.processor].frames.pop();
        show(vcpu);
    }
}

/// The return instruction may be that of another function. It ends the soft interrupt only if the stack
/// pointer is as at the beginning of the handler.
void Contexts::soft_interrupts_may_end(Vcpu& vcpu) {
    if (!vcpu.bound()) {
        return;
    }
    Frames& frames = running_[vcpu.processor].frames;
    if (!frames.empty() && frames.top().entry == KernelEntry::soft_interrupt &&
        frames.top().stack == read_register(Register::rsp)) {
        frames.pop();
        show(vcpu);
    }
}

}  // namespace s80::plugin
