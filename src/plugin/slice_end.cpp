// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slice_end.h"

#include <array>
#include <cstring>

#include "plugin/fatal.h"
#include "plugin/qemu_symbols.h"

namespace s80::plugin {

SliceEnd::SliceEnd()
    : exit_(find_symbol<void (*)(void*)>("cpu_exit")),
      loop_exit_(find_symbol<void (*)(void*)>("cpu_loop_exit")),
      restore_(find_symbol<bool (*)(void*, std::uintptr_t)>("cpu_restore_state")),
      current_(find_symbol<void* const*>("current_cpu")) {}

/// Checks once that this class restores the processor's state as QEMU's own function does. QEMU's function
/// works in the middle of any block; but it searches a tree of all blocks, which doubles the time that the
/// end of a time slice takes. Before the first instruction of a block, only the count of instructions must be
/// restored.
void SliceEnd::verify(std::uint64_t instructions, std::uintptr_t return_address) {
    // Registers, program counter and flags are at the beginning of QEMU's state of a processor.
    std::array<std::uint8_t, 256> before{};
    std::memcpy(before.data(), in_cpu(kState), before.size());
    const std::uint16_t left_before = left();
    const bool restored = restore_(*current_, return_address);
    const bool counts = left() == static_cast<std::uint16_t>(left_before + instructions);
    if (!restored || !counts || std::memcmp(before.data(), in_cpu(kState), before.size()) != 0) {
        fatal(unknown_qemu().what());
    }
    verified_ = true;
}

}  // namespace s80::plugin
