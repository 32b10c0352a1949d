// SPDX-License-Identifier: GPL-2.0-or-later
// The task that each processor runs, its process class, and its kernel entry cause. The plugin reads them
// from the kernel's memory when the kernel switches tasks.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>

#include "plugin/classes.h"
#include "plugin/frames.h"
#include "plugin/guest_ram.h"
#include "plugin/kernel.h"

namespace s80::plugin {

struct Task {
    std::uint64_t address = 0;  ///< virtual address of the kernel's task_struct; 0: the task is not known
    std::uint32_t pid = 0;
    std::uint32_t tgid = 0;  ///< process of the task: pid of the process's first task
    std::string name;
    model::ProcessClass process_class = model::ProcessClass::other;
    model::KernelEntry base =
        /// Kernel entry cause of the task's code outside of any kernel entry: kernel threads and idle tasks
        /// run in the kernel without having entered it. `unknown` for other tasks.
        model::KernelEntry::unknown;
};

/// What a processor runs: a task, and how this task entered the kernel.
struct Running {
    Task task;
    Frames frames;

    /// The context of the task's code in the kernel, and in user mode.
    model::Context kernel_context() const {
        return {task.process_class, frames.empty() ? task.base : frames.top().entry};
    }
    model::Context user_context() const { return {task.process_class, model::KernelEntry::user}; }
};

class Tasks {
public:
    Tasks(Kernel kernel, Classes classes, GuestRam& ram)
        : kernel_(std::move(kernel)), classes_(std::move(classes)), ram_(ram) {}

    const Kernel& kernel() const { return kernel_; }
    /// Reads the current task of a processor into `running`. `per_cpu`: virtual address of the processor's
    /// per-CPU area. `table`: physical address of its top page table.
    void look(Running& running, std::uint64_t per_cpu, std::uint64_t table);

private:
    struct Left {
        std::uint32_t pid;
        Frames frames;
    };
    Task read(std::uint64_t address, std::uint64_t table) const;
    Frames first_seen(const Task& task, std::uint64_t table) const;

    const Kernel kernel_;
    const Classes classes_;
    GuestRam& ram_;
    /// Tasks that were switched out inside the kernel, with their open kernel entries, by the address of
    /// their task_struct.
    std::unordered_map<std::uint64_t, Left> left_;
};

}  // namespace s80::plugin
