// SPDX-License-Identifier: GPL-2.0-or-later
// Ends the time slice of the running processor before QEMU would (docs/background/clock.md).
#pragma once
#include <cstddef>
#include <cstdint>

namespace s80::plugin {

/// Under -icount, QEMU executes one processor for hundreds of thousands of instructions: for its share of the
/// time to the guest's next timer. The plugin interface has no function to end such a time slice. This class
/// calls two functions of QEMU: `cpu_exit` asks for the end of the time slice, as QEMU's devices do, and
/// `cpu_loop_exit` leaves the current block, as QEMU's own helpers do.
class SliceEnd {
public:
    /// Throws Error if this QEMU does not export the needed symbols.
    SliceEnd();
    /// Ends the time slice before the first instruction of the block whose callback runs. Does not return: it
    /// jumps into QEMU. Call it only on the thread that executes the vCPUs, from a function without
    /// destructors. `instructions`: number of instructions of the block. `return_address`: where the callback
    /// would return to in the block. If this QEMU is not known, the first call ends the process.
    [[noreturn]] void leave(std::uint64_t instructions, std::uintptr_t return_address) {
        // At its beginning, the block has subtracted its instructions from those that the processor may still
        // execute. None of them is executed now, so they are added again.
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

    /// The running processor: an address that is only compared. Call it on the thread that executes the
    /// vCPUs.
    const void* running() const { return *current_; }

private:
    // Offsets in QEMU's structure CPUState, QEMU 10.0.
    static constexpr std::size_t kLeft = 0x2bb8;   ///< the low half of `icount_decr`: see left()
    static constexpr std::size_t kState = 0x2bc0;  ///< QEMU's state of the processor, with its registers

    std::uint8_t* in_cpu(std::size_t offset) const { return static_cast<std::uint8_t*>(*current_) + offset; }
    /// Instructions that the processor may still execute in its time slice.
    volatile std::uint16_t& left() const { return *reinterpret_cast<std::uint16_t*>(in_cpu(kLeft)); }
    void verify(std::uint64_t instructions, std::uintptr_t return_address);

    void (*exit_)(void* cpu);
    void (*loop_exit_)(void* cpu);
    bool (*restore_)(void* cpu, std::uintptr_t return_address);
    void* const* current_;  ///< address of QEMU's thread-local pointer to the running processor
    bool verified_ = false;
};

}  // namespace s80::plugin
