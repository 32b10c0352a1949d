// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of functions of a program, recognised by the physical addresses of their first instructions: a
// function whose call begins the measured region, one whose call ends it, and one whose calls are counted
// (docs/reference/interfaces/plugin-arguments.md).
#pragma once
#include <cstdint>

#include "plugin/qemu_api.h"

namespace s80::plugin {

struct Arguments;

class EntryPoints {
public:
    explicit EntryPoints(const Arguments& arguments);

    /// Called for each instruction that QEMU translates. Adds a callback if it is the first instruction of
    /// one of the three functions.
    void translated(qemu_plugin_insn* insn, std::uint64_t physical);
    void entered() { ++calls_; }
    /// Number of calls of the counted function.
    const std::uint64_t& calls() const { return calls_; }
    bool counts() const { return counted_ != 0; }

private:
    /// Physical address of the function at whose call the region begins. In this member and the next two, 0
    /// means that there is no such function.
    std::uint64_t from_;
    std::uint64_t to_;
    std::uint64_t counted_;
    std::uint64_t calls_ = 0;
};

}  // namespace s80::plugin
