// SPDX-License-Identifier: GPL-2.0-or-later
// The layout of the guest's kernel: the addresses of its entry points, and where it stores the current task
// (docs/reference/interfaces/guest-kernel.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/types.h"

namespace s80::plugin {

/// The bit of task_struct.flags that marks a kernel thread (PF_KTHREAD).
constexpr std::uint32_t kPfKernelThread = 0x0020'0000;

/// Reads a kernel layout file: a name and a number on each line. Throws model::Error.
std::map<std::string, std::uint64_t> read_kernel_values(const std::string& path);

struct Kernel {
    std::uint64_t current_task = 0;  ///< offset of the current task's address in the per-CPU area
    // Offsets in struct task_struct.
    std::uint64_t comm = 0;
    std::uint64_t pid = 0;
    std::uint64_t tgid = 0;
    std::uint64_t flags = 0;
    std::uint64_t stack = 0;
    /// Entry points, by the address of their first instructions.
    std::map<std::uint64_t, model::KernelEntry> entries;
    /// Address of the function that handles soft interrupts.
    std::uint64_t soft_interrupts = 0;
    // Address range of all variants of memcpy, and the end of the kernel's own code and data, after which
    // modules are loaded; 0: not known.
    std::uint64_t copy_begin = 0;
    std::uint64_t copy_end = 0;
    std::uint64_t end = 0;

    /// Throws model::Error that names a missing value.
    static Kernel load(const std::string& path);

    /// The kernel entry cause if the instruction at this address is an entry point; otherwise `user`.
    model::KernelEntry entered_at(std::uint64_t address) const {
        const auto it = entries.find(address);
        return it == entries.end() ? model::KernelEntry::user : it->second;
    }
    /// Whether the instruction at this address belongs to a memcpy.
    bool copies(std::uint64_t address) const { return address - copy_begin < copy_end - copy_begin; }
    /// Whether the code at this address belongs to a module.
    bool in_module(std::uint64_t address) const {
        constexpr std::uint64_t kModulesEnd = 0xffff'ffff'ff00'0000U;
        return address >= end && address < kModulesEnd;
    }
    /// Whether this instruction makes another task the current one: mov %reg,%gs:current_task.
    bool switches_task(const std::uint8_t* bytes, std::size_t size, std::uint64_t address) const;
    /// Whether a return instruction at this address may be the return of the function `soft_interrupts`. The
    /// function's end is not known, so this holds for all addresses up to 4,096 bytes after its beginning.
    bool may_end_soft_interrupts(std::uint64_t address) const {
        constexpr std::uint64_t kLongest = 4096;
        return address - soft_interrupts < kLongest;
    }
};

}  // namespace s80::plugin
