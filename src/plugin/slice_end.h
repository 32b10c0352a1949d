// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the time slice of the running processor (docs/background/clock.md).
#pragma once
#include <cstddef>
#include <cstdint>

namespace s80::plugin {

/// Under -icount QEMU lets a processor run for its share of the time to the guest's next timer, which is
/// hundreds of thousands of instructions. The plugin interface has no function that ends a slice, but QEMU's
/// own helpers leave a block of instructions by `cpu_loop_exit`, and its devices ask for the end of a slice
/// by `cpu_exit`.
class SliceEnd {
public:
    /// Throws Error if this QEMU does not export the needed symbols.
    SliceEnd();
    /// Leaves the block whose callback runs before its first instruction, and lets the next processor run.
    /// Call it only on the thread that runs the processors, from a function without destructors: it jumps.
    /// `instructions`: of the block. `return_address`: where the callback returns to in the block. The first
    /// call ends the process if this QEMU is not known.
    [[noreturn]] void leave(std::uint64_t instructions, std::uintptr_t return_address) {
        // The block has already subtracted its instructions from those that the processor may still execute:
        // leave() adds them again.
        if (!verified_) [[unlikely]] {
            verify(instructions, return_address);
        } else {
            volatile std::uint16_t& count = left();
            count = static_cast<std::uint16_t>(count + instructions);
        }
        exit_(*current_);
        loop_exit_(*current_);
        __builtin_unreachable();
    }

    /// The running processor, as an opaque name. Call it on the same thread.
    const void* running() const { return *current_; }

private:
    // Offsets in `CPUState`, QEMU 10.0.
    static constexpr std::size_t kLeft = 0x2bb8;   ///< `icount_decr`
    static constexpr std::size_t kState = 0x2bc0;  ///< the guest's registers

    std::uint8_t* in_cpu(std::size_t offset) const { return static_cast<std::uint8_t*>(*current_) + offset; }
    /// Instructions that the processor may still execute.
    volatile std::uint16_t& left() const { return *reinterpret_cast<std::uint16_t*>(in_cpu(kLeft)); }
    void verify(std::uint64_t instructions, std::uintptr_t return_address);

    void (*exit_)(void* cpu);
    void (*loop_exit_)(void* cpu);
    bool (*restore_)(void* cpu, std::uintptr_t return_address);
    void* const* current_;  ///< QEMU's thread-local pointer to the running processor
    bool verified_ = false;
};

}  // namespace s80::plugin
