// SPDX-License-Identifier: GPL-2.0-or-later
// Properties of an x86 instruction that the recording side needs. The plugin determines them once, when QEMU
// translates the instruction.
#pragma once
#include <cstddef>
#include <cstdint>

#include "stream/counts.h"

namespace s80::plugin {

struct Decoded {
    model::InstructionClass kind = model::InstructionClass::other;
    bool touches_memory = true;        ///< may load or store; true if the decoder does not know
    bool changes_translation = false;  ///< MOV to CR, INVLPG, INVPCID: invalidates cached translations
    bool halts = false;
    bool pauses = false;
    bool reads_clock = false;
    bool returns = false;            ///< returns from a function
    bool returns_interrupt = false;  ///< returns from an interrupt or fault (IRET)
    unsigned access_bytes = 8;       ///< upper bound for the size of one access that QEMU reports, in bytes
    unsigned marker = 0;             ///< number of the marker if this is a marker instruction; otherwise 0
};

/// `bytes`: one instruction in 64-bit mode, `size` bytes long.
Decoded decode(const std::uint8_t* bytes, std::size_t size);

}  // namespace s80::plugin
