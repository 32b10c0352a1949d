// SPDX-License-Identifier: GPL-2.0-or-later
// Marker instructions: no-operations that the plugin recognises when the guest executes them
// (docs/reference/interfaces/markers.md). They have no effect on any other x86 machine. In gem5, which has
// no plugin, the markers of the load are gem5's own pseudo-instructions.
#pragma once

#include <cstdint>

#include "m5ops.h"

namespace s80::loadgen::marker {

inline constexpr std::uint32_t kBase = 0x53380000;

enum class Class : std::uint64_t { load_generator = 1, other = 2 };

/// Switches to gem5's markers.
void use_gem5();
bool in_gem5();

template <std::uint32_t op>
inline void mark(std::uint64_t rdi = 0, std::uint64_t rsi = 0, std::uint64_t rdx = 0) {
    asm volatile(".byte 0x0f, 0x1f, 0x80\n\t.long %c0"
                 :
                 : "i"(kBase | op), "D"(rdi), "S"(rsi), "d"(rdx)
                 : "memory");
}

/// Binds the executing vCPU to a core of the model. The caller must be pinned to that guest CPU.
inline void core(unsigned cpu) {
    mark<1>(cpu);
}

/// Passes the phase page: the store to byte 8 tells the plugin the address of the page.
inline void phase_page(void* page) {
    asm volatile(".byte 0x0f, 0x1f, 0x80\n\t.long %c0\n\tmovq $0, 8(%%rdi)"
                 :
                 : "i"(kBase | 2), "D"(page)
                 : "memory");
}

inline void account_to(Class who) {
    mark<3>(static_cast<std::uint64_t>(who));
}
inline void load_begin() {
    in_gem5() ? m5::exit() : mark<4>();
}

// gem5's work items have no outcome: that of a failed transaction is a type of its own.
inline constexpr std::uint64_t kGem5Failed = 16;

inline void transaction_begin(std::uint64_t type, std::uint64_t client) {
    in_gem5() ? m5::work_begin(type, client) : mark<5>(type, client);
}
inline void transaction_end(std::uint64_t type, std::uint64_t client, bool failed) {
    if (!in_gem5()) {
        mark<6>(type, client, failed ? 1 : 0);
    } else if (failed) {
        m5::work_begin(kGem5Failed + type, client);
        m5::work_end(kGem5Failed + type, client);
    } else {
        m5::work_end(type, client);
    }
}
inline void fail() {
    in_gem5() ? m5::fail(1) : mark<7>();
}

/// Executes the marker CORE once on every online CPU. Afterwards the caller may run on all of them again.
void bind_cores();

}  // namespace s80::loadgen::marker
