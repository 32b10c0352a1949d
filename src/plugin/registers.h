// SPDX-License-Identifier: GPL-2.0-or-later
// Registers of the running vCPU.
#pragma once
#include <cstdint>

namespace s80::plugin {

enum class Register : unsigned { rax, rcx, rdx, rdi, rsi, rsp, cr3, gs_base, k_gs_base, fs_base };
inline constexpr unsigned kRegisters = 10;

/// Returns the register's value. Call it only inside a callback that belongs to a vCPU. For a general
/// register, the callback must be registered with R_REGS, or be at the beginning of a block. Throws
/// model::Error if this QEMU does not offer the register.
std::uint64_t read_register(Register which);

}  // namespace s80::plugin
