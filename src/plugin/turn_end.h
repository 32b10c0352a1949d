// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the turn of the processor that runs (docs/background/clock.md, "Turns and their order").
#pragma once

namespace s80::plugin {

/// Under -icount QEMU lets a processor run for its share of the time to the guest's next timer, which is
/// hundreds of thousands of instructions, and asks at the beginning of each block whether to go on.
/// `cpu_exit` is what QEMU's own devices call to have that answered with no; the interface for plugins has
/// nothing like it, but a QEMU that is built with loadable modules, as Debian's is, exports it.
class TurnEnd {
public:
    /// Throws Error where this QEMU does not export what is needed.
    TurnEnd();
    /// The turn ends before the next block. Only on the thread that runs the processors.
    void request() const { exit_(*current_); }
    /// The processor that runs; valid as a name only. On the same thread.
    const void* running() const { return *current_; }

private:
    void (*exit_)(void* cpu);
    void* const* current_;  ///< QEMU's thread-local pointer to the processor that runs
};

}  // namespace s80::plugin
