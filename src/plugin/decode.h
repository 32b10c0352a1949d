// SPDX-License-Identifier: GPL-2.0-or-later
// Properties of an instruction that the recorder needs. They are determined once, when it is translated.
#pragma once
#include <cstddef>
#include <cstdint>

#include "stream/counts.h"

namespace s80::plugin {

struct Decoded {
    model::InstructionClass kind = model::InstructionClass::other;
    bool touches_memory = true;        ///< may load or store (if in doubt: true)
    bool changes_translation = false;  ///< MOV to CR, INVLPG, INVPCID: invalidates cached translations
    bool halts = false;
    bool pauses = false;
    bool reads_clock = false;
    bool returns = false;            ///< returns from a function
    bool returns_interrupt = false;  ///< IRET
    unsigned access_bytes = 8;       ///< at least those of the largest access that QEMU reports
    unsigned marker = 0;             ///< operation of a marker instruction; 0: not a marker
};

/// `bytes`: the instruction in 64-bit mode.
Decoded decode(const std::uint8_t* bytes, std::size_t size);

}  // namespace s80::plugin
