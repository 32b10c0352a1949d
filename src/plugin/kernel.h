// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's kernel as far as the plugin knows it: where it is entered and left, and where it says which
// task runs (docs/reference/interfaces/plugin-arguments.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "model/types.h"

namespace s80::plugin {

struct Kernel {
    std::uint64_t current_task = 0;  ///< offset in the per-CPU area
    // Offsets in struct task_struct.
    std::uint64_t comm = 0;
    std::uint64_t pid = 0;
    std::uint64_t flags = 0;
    std::uint64_t stack = 0;
    std::map<std::uint64_t, model::Entry> entries;  ///< by the address of the first instruction
    std::uint64_t soft_interrupts = 0;              ///< the function that handles them
    // memcpy, all its forms, and where the kernel's own code and data end; 0: nobody told.
    std::uint64_t copy_begin = 0;
    std::uint64_t copy_end = 0;
    std::uint64_t end = 0;

    /// Throws model::Error naming what is missing.
    static Kernel load(const std::string& path);

    /// How the kernel is entered by the instruction at this address; user where it is not.
    model::Entry entered_at(std::uint64_t address) const {
        const auto it = entries.find(address);
        return it == entries.end() ? model::Entry::user : it->second;
    }
    bool copies(std::uint64_t address) const { return address - copy_begin < copy_end - copy_begin; }
    /// Whether the code at this address is a module's.
    bool in_module(std::uint64_t address) const {
        constexpr std::uint64_t kModulesEnd = 0xffff'ffff'ff00'0000U;
        return address >= end && address < kModulesEnd;
    }
    /// Whether the instruction at this address stores the task that is switched to: mov
    /// %reg,%gs:current_task.
    bool switches_task(const std::uint8_t* bytes, std::size_t size, std::uint64_t address) const;
    /// Whether a return at this address may be that of `soft_interrupts`: it is in it, or not far behind.
    bool may_end_soft_interrupts(std::uint64_t address) const {
        constexpr std::uint64_t kLongest = 4096;
        return address - soft_interrupts < kLongest;
    }
};

}  // namespace s80::plugin
