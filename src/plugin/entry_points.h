// SPDX-License-Identifier: GPL-2.0-or-later
// Functions of a program by the physical addresses of their first instructions: one at whose entry the
// measured region begins, one at whose entry it ends, and one whose entries are counted
// (docs/reference/interfaces/plugin-arguments.md).
#pragma once
#include <cstdint>

#include "plugin/qemu_api.h"

namespace s80::plugin {

struct Arguments;

class EntryPoints {
public:
    explicit EntryPoints(const Arguments& arguments);

    /// Called for each instruction that QEMU translates.
    void translated(qemu_plugin_insn* insn, std::uint64_t physical);
    void entered() { ++calls_; }
    /// How often the counted function has been entered.
    const std::uint64_t& calls() const { return calls_; }
    bool counts() const { return counted_ != 0; }

private:
    std::uint64_t from_;  ///< physical address; 0: no such function, also in the next two members
    std::uint64_t to_;
    std::uint64_t counted_;
    std::uint64_t calls_ = 0;
};

}  // namespace s80::plugin
