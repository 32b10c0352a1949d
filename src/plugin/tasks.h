// SPDX-License-Identifier: GPL-2.0-or-later
// The task that each processor runs, its process class, and its kernel entry cause. They are read from the
// kernel's own memory when it switches tasks.
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
    std::uint64_t address = 0;  ///< address of its task_struct, virtual; 0: unknown
    std::uint32_t pid = 0;
    std::uint32_t tgid = 0;  ///< of its process: the pid of the first task
    std::string name;
    model::ProcessClass process_class = model::ProcessClass::other;
    model::KernelEntry base =
        /// Its kernel entry cause if it has not entered the kernel, as a kernel thread.
        model::KernelEntry::unknown;
};

/// What a processor runs.
struct Running {
    Task task;
    Frames frames;

    /// The context of the code that the processor runs in the kernel.
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
    /// Updates `running`: the processor with this per-CPU area may now run another task. `table`: its top
    /// page table.
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
    /// Tasks that were switched out within the kernel, by address.
    std::unordered_map<std::uint64_t, Left> left_;
};

}  // namespace s80::plugin
