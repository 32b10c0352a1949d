// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/tasks.h"

#include <array>

#include "plugin/page_walk.h"

namespace s80::plugin {

using model::KernelEntry;
using model::ProcessClass;

void Tasks::look(Running& running, std::uint64_t per_cpu, std::uint64_t table) {
    const auto address = read_virtual<std::uint64_t>(ram_, table, per_cpu + kernel_.current_task);
    if (!address) {
        throw model::Error(
            "the current task was not found at the address in the guest's kernel symbols: is the guest "
            "booted "
            "with nokaslr, and are the symbols those of its image?");
    }
    if (*address == running.task.address) {
        running.task = read(*address, table);  // the name of the task may have changed
        return;
    }
    const bool first = running.task.address == 0;
    if (!first) {
        left_[running.task.address] = {running.task.pid, running.frames};
    }
    running.task = read(*address, table);
    running.frames.clear();
    if (first) {
        return;  // the processor's first task was already in the kernel; how it entered is not known
    }
    const auto it = left_.find(*address);
    if (it != left_.end() && it->second.pid == running.task.pid) {
        running.frames = it->second.frames;
        left_.erase(it);
    } else {
        running.frames = first_seen(running.task, table);
    }
}

Task Tasks::read(std::uint64_t address, std::uint64_t table) const {
    using Name = std::array<char, 16>;
    const auto name = read_virtual<Name>(ram_, table, address + kernel_.comm);
    const auto pid = read_virtual<std::uint32_t>(ram_, table, address + kernel_.pid);
    const auto tgid = read_virtual<std::uint32_t>(ram_, table, address + kernel_.tgid);
    const auto flags = read_virtual<std::uint32_t>(ram_, table, address + kernel_.flags);
    if (!name || !pid || !tgid || !flags) {
        throw model::Error("the guest's task at " + std::to_string(address) + " lies outside of its memory");
    }
    Task task{address,
              *pid,
              *tgid,
              std::string(name->data(), strnlen(name->data(), name->size())),
              ProcessClass::other,
              KernelEntry::unknown};
    if (*pid == 0) {
        task.process_class = ProcessClass::idle;
        task.base = KernelEntry::idle;
    } else if ((*flags & kPfKernelThread) != 0) {
        task.process_class = ProcessClass::kernel;
        task.base = KernelEntry::kernel_thread;
    } else {
        task.process_class = classes_.class_of(task.name);
    }
    return task;
}

/// How a task entered the kernel that the plugin sees for the first time: it slept in the kernel when the
/// guest was saved in a checkpoint. The kernel saves the user's registers at the top of the task's stack
/// (struct pt_regs), with the number of the system call; the number is -1 for faults and interrupts.
Frames Tasks::first_seen(const Task& task, std::uint64_t table) const {
    constexpr std::uint64_t kStackBytes = 16384;
    // Offset from the end of the stack to orig_ax, after which ip, cs, flags, sp and ss follow.
    constexpr std::uint64_t kNumberAt = 6 * 8;
    constexpr std::uint64_t kCsAt = 4 * 8;
    constexpr std::uint64_t kUserCs = 0x33;
    constexpr std::uint64_t kMostCalls = 1024;
    Frames frames;
    if (task.base != KernelEntry::unknown) {
        return frames;
    }
    const auto stack = read_virtual<std::uint64_t>(ram_, table, task.address + kernel_.stack);
    const std::uint64_t end = stack.value_or(0) + kStackBytes;
    const auto number = read_virtual<std::uint64_t>(ram_, table, end - kNumberAt);
    const auto cs = read_virtual<std::uint64_t>(ram_, table, end - kCsAt);
    if (number && cs && *cs == kUserCs && *number < kMostCalls) {
        frames.push({KernelEntry::system_call, static_cast<std::uint16_t>(*number), 0});
    }
    return frames;
}

}  // namespace s80::plugin
