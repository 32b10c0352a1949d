// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/decode.h"

#include <capstone/capstone.h>

#include <array>
#include <cstring>
#include <vector>

#include "model/types.h"

namespace s80::plugin {

namespace {

using model::InstructionClass;

class Disassembler {
public:
    Disassembler() {
        if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) != CS_ERR_OK) {
            throw model::Error("the disassembler Capstone cannot be initialised");
        }
        cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
        insn_ = cs_malloc(handle_);
    }
    ~Disassembler() {
        cs_free(insn_, 1);
        cs_close(&handle_);
    }
    Disassembler(const Disassembler&) = delete;
    Disassembler& operator=(const Disassembler&) = delete;

    /// Null when Capstone does not know the bytes.
    const cs_insn* one(const std::uint8_t* bytes, std::size_t size) {
        std::uint64_t address = 0;
        return cs_disasm_iter(handle_, &bytes, &size, &address, insn_) ? insn_ : nullptr;
    }

private:
    csh handle_ = 0;
    cs_insn* insn_ = nullptr;
};

bool in_group(const cs_insn& insn, unsigned group) {
    for (unsigned i = 0; i < insn.detail->groups_count; ++i) {
        if (insn.detail->groups[i] == group) {
            return true;
        }
    }
    return false;
}

bool writes_control_register(const cs_insn& insn) {
    const cs_x86& x = insn.detail->x86;
    return insn.id == X86_INS_MOV && x.op_count == 2 && x.operands[0].type == X86_OP_REG &&
           x.operands[0].reg >= X86_REG_CR0 && x.operands[0].reg <= X86_REG_CR15;
}

struct Memory {
    bool loads = false;
    bool stores = false;
};

/// Capstone 4 takes the memory destination of these for a load.
bool stores_first_operand(const cs_insn& insn) {
    switch (insn.id) {
        case X86_INS_MOVUPS:
        case X86_INS_MOVUPD:
        case X86_INS_MOVAPD:
        case X86_INS_MOVDQU:
        case X86_INS_MOVDQA:
        case X86_INS_MOVQ:
        case X86_INS_MOVHPS:
        case X86_INS_MOVHPD:
        case X86_INS_MOVLPS:
        case X86_INS_MOVLPD:
        case X86_INS_MOVSS:
        case X86_INS_MOVNTI:
        case X86_INS_MOVNTDQ:
        case X86_INS_MOVNTPS:
        case X86_INS_MOVNTPD:
        case X86_INS_PEXTRB:
        case X86_INS_PEXTRW:
        case X86_INS_PEXTRD:
        case X86_INS_PEXTRQ:
        case X86_INS_MOVBE:
        case X86_INS_FST:
        case X86_INS_FSTP:
        case X86_INS_STMXCSR: return true;
        default: return false;
    }
}

/// Capstone 4 takes the memory operand of these for a load only.
bool exchanges(const cs_insn& insn) {
    switch (insn.id) {
        case X86_INS_CMPXCHG:
        case X86_INS_CMPXCHG8B:
        case X86_INS_CMPXCHG16B:
        case X86_INS_XADD:
        case X86_INS_XCHG: return true;
        default: return false;
    }
}

Memory memory_of(const cs_insn& insn) {
    switch (insn.id) {  // memory that no operand shows
        case X86_INS_PUSH:
        case X86_INS_PUSHFQ:
        case X86_INS_ENTER: return {false, true};
        case X86_INS_POP:
        case X86_INS_POPFQ:
        case X86_INS_LEAVE: return {true, false};
        case X86_INS_LEA:
        case X86_INS_NOP: return {};
        default: break;
    }
    Memory m;
    const cs_x86& x = insn.detail->x86;
    for (unsigned i = 0; i < x.op_count; ++i) {
        if (x.operands[i].type == X86_OP_MEM && i == 0 && stores_first_operand(insn)) {
            m.stores = true;
        } else if (x.operands[i].type == X86_OP_MEM) {
            // Capstone leaves the access out for a few instructions: those load.
            m.loads |= x.operands[i].access == 0 || (x.operands[i].access & CS_AC_READ) != 0;
            m.stores |= (x.operands[i].access & CS_AC_WRITE) != 0 || exchanges(insn);
        }
    }
    return m;
}

/// Bytes of the largest memory operand; what Capstone does not know (XSAVE and its like) is taken as a word.
unsigned access_bytes(const cs_insn& insn) {
    constexpr unsigned kWord = 8;
    constexpr unsigned kLargest = 64;
    unsigned bytes = kWord;
    const cs_x86& x = insn.detail->x86;
    for (unsigned i = 0; i < x.op_count; ++i) {
        if (x.operands[i].type == X86_OP_MEM && x.operands[i].size <= kLargest) {
            bytes = x.operands[i].size > bytes ? x.operands[i].size : bytes;
        }
    }
    return bytes;
}

InstructionClass class_of(const cs_insn& insn) {
    const bool call_or_return =
        in_group(insn, CS_GRP_CALL) || in_group(insn, CS_GRP_RET) || in_group(insn, CS_GRP_IRET);
    if (call_or_return || insn.id == X86_INS_JMP) {
        return InstructionClass::branch_unconditional;
    }
    if (in_group(insn, CS_GRP_JUMP) || insn.id == X86_INS_LOOP || insn.id == X86_INS_LOOPE ||
        insn.id == X86_INS_LOOPNE) {
        return InstructionClass::branch_conditional;
    }
    const Memory m = memory_of(insn);
    if (m.loads && m.stores) {
        return InstructionClass::load_store;
    }
    if (m.stores) {
        return InstructionClass::store;
    }
    return m.loads ? InstructionClass::load : InstructionClass::other;
}

/// nopl disp32(%rax) with our displacement (docs/reference/interfaces/markers.md).
unsigned marker_of(const std::uint8_t* bytes, std::size_t size) {
    constexpr std::uint32_t kMagic = 0x5338'0000;
    std::uint32_t displacement = 0;
    if (size != 7 || bytes[0] != 0x0f || bytes[1] != 0x1f || bytes[2] != 0x80) {
        return 0;
    }
    std::memcpy(&displacement, bytes + 3, sizeof displacement);
    return (displacement & 0xffff'0000) == kMagic ? displacement & 0xffff : 0;
}

Decoded disassemble(const std::uint8_t* bytes, std::size_t size) {
    static Disassembler disassembler;
    Decoded d;
    d.marker = marker_of(bytes, size);
    const cs_insn* insn = disassembler.one(bytes, size);
    if (insn == nullptr) {
        return d;
    }
    d.kind = class_of(*insn);
    d.changes_translation =
        writes_control_register(*insn) || insn->id == X86_INS_INVLPG || insn->id == X86_INS_INVPCID;
    d.halts = insn->id == X86_INS_HLT;
    d.pauses = insn->id == X86_INS_PAUSE;
    d.returns = insn->id == X86_INS_RET;
    d.returns_interrupt = insn->id == X86_INS_IRETQ;
    const bool plain =
        d.kind == InstructionClass::branch_conditional || insn->id == X86_INS_LEA || insn->id == X86_INS_NOP;
    d.touches_memory = !plain;
    d.access_bytes = access_bytes(*insn);
    return d;
}

/// Bytes of an instruction, and at the end their number.
using Key = std::array<std::uint64_t, 2>;
constexpr std::size_t kLongest = sizeof(Key) - 1;

struct Remembered {
    Key key{};  ///< all zero: none
    Decoded decoded;
};

}  // namespace

/// Code consists of few different instructions. Most of them need no disassembler.
Decoded decode(const std::uint8_t* bytes, std::size_t size) {
    constexpr unsigned kSlotBits = 11;
    static std::vector<Remembered> slots(std::size_t{1} << kSlotBits);
    if (size == 0 || size > kLongest) {
        return disassemble(bytes, size);
    }
    Key key{};
    std::memcpy(key.data(), bytes, size);
    key[1] |= std::uint64_t{size} << 56U;
    Remembered& slot =
        slots[(key[0] * 0x9e37'79b9'7f4a'7c15U ^ key[1] * 0xc2b2'ae3d'27d4'eb4fU) >> (64U - kSlotBits)];
    if (slot.key != key) {
        slot = {key, disassemble(bytes, size)};
    }
    return slot.decoded;
}

}  // namespace s80::plugin
