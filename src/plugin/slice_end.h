// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the time slice of the running processor (docs/background/clock.md).
#pragma once
#include <cstdint>

namespace s80::plugin {

/// Under -icount QEMU lets a processor run for its share of the time to the guest's next timer, which is
/// hundreds of thousands of instructions. The plugin interface has no function that ends a slice, but QEMU's
/// own helpers leave a block of instructions by `cpu_loop_exit_restore`, and its devices ask for the end of a
/// slice by `cpu_exit`. A QEMU built with loadable modules, like Debian's, exports both.
class SliceEnd {
public:
    /// Throws Error if this QEMU does not export the needed symbols.
    SliceEnd();
    /// Leaves the block whose callback runs before its first instruction, and lets the next processor run.
    /// Call it only on the thread that runs the processors, from a function without destructors: it jumps.
    /// `return_address`: where the callback returns to in the block.
    [[noreturn]] void leave(std::uintptr_t return_address) const {
        exit_(*current_);
        restore_(*current_, return_address);
        __builtin_unreachable();
    }

    /// The running processor, as an opaque name. Call it on the same thread.
    const void* running() const { return *current_; }

private:
    void (*exit_)(void* cpu);
    void (*restore_)(void* cpu, std::uintptr_t return_address);
    void* const* current_;  ///< QEMU's thread-local pointer to the running processor
};

}  // namespace s80::plugin
