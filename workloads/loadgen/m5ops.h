// SPDX-License-Identifier: GPL-2.0-or-later
// The gem5 pseudo-instructions that the load generator needs: 0F 04 and a 16-bit function, arguments in rdi,
// rsi, rdx, answer in rax (gem5 v24.0, include/gem5/asm/generic/m5ops.h). They are illegal instructions
// outside of gem5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace s80::loadgen::m5 {

template <std::uint16_t function>
inline std::uint64_t call(std::uint64_t rdi = 0, std::uint64_t rsi = 0, std::uint64_t rdx = 0) {
    std::uint64_t answer = 0;
    asm volatile(".byte 0x0f, 0x04\n\t.word %c1"
                 : "=a"(answer)
                 : "i"(function), "D"(rdi), "S"(rsi), "d"(rdx)
                 : "memory");
    return answer;
}

/// Passes control to the simulation's script. Returns when the script resumes the simulation.
inline void exit() {
    call<0x21>();
}
inline void fail(std::uint64_t code) {
    call<0x22>(0, code);
}
/// Asks the script for a checkpoint. Also returns in every guest restored from the checkpoint.
inline void checkpoint() {
    call<0x43>();
}
inline void work_begin(std::uint64_t type, std::uint64_t client) {
    call<0x5a>(type, client);
}
inline void work_end(std::uint64_t type, std::uint64_t client) {
    call<0x5b>(type, client);
}

/// The file that the script set as `readfile`; nothing if it is empty.
std::optional<std::string> read_file();

}  // namespace s80::loadgen::m5
