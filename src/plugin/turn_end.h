// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the time slice (`turn`) of the running processor (docs/background/clock.md).
#pragma once

namespace s80::plugin {

/// Under -icount QEMU lets a processor run for its share of the time to the guest's next timer, which is
/// hundreds of thousands of instructions. At the beginning of each block QEMU checks whether the processor
/// must stop. QEMU's own devices request this with `cpu_exit`. The plugin interface has no equivalent, but a
/// QEMU built with loadable modules, like Debian's, exports the function.
class TurnEnd {
public:
    /// Throws Error if this QEMU does not export the needed symbols.
    TurnEnd();
    /// Ends the time slice before the next block. Call it only on the thread that runs the processors.
    void request() const { exit_(*current_); }
    /// The running processor, as an opaque name. Call it on the same thread.
    const void* running() const { return *current_; }

private:
    void (*exit_)(void* cpu);
    void* const* current_;  ///< QEMU's thread-local pointer to the running processor
};

}  // namespace s80::plugin
