#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Package (PyPI): capstone 5.0.9.
#
# Behaviour: Capstone states for each operand of an x86 instruction whether the instruction reads or writes the operand
# (`access`). For several instructions that store to memory, or read and write it, Capstone states `read` alone. One of them
# depends on the length of the vector: `vmovdqu [m], xmm` is a write, `vmovdqu [m], ymm` is a read. `xlatb` loads from memory
# and has no memory operand.
#
# Why it surprises: most instructions are right, so a count of loads and stores looks plausible. The Intel manual (SDM volume
# 2) says of each instruction below what it does with its operand in memory.
#
# Seen (1: read, 2: write, 3: both; `-`: Capstone shows no operand in memory):
#   bytes             instruction                      Capstone   manual
#   c5 fa 7f 00       vmovdqu [rax], xmm0              2          2
#   c5 fe 7f 00       vmovdqu [rax], ymm0              1          2
#   66 0f 3a 17 00 01 extractps [rax], xmm0, 1         1          2
#   d9 38             fnstcw [rax]                     1          2
#   c0 00 02          rol byte [rax], 2                1          3
#   48 0f c7 08       cmpxchg16b [rax]                 1          3
#   d7                xlatb                            -          1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check capstone==5.0.9
venv/bin/python - <<'PYTHON'
import sys

from capstone import CS_ARCH_X86, CS_MODE_64, Cs
from capstone.x86 import X86_OP_MEM

EXPECTED = {
    "c5fa7f00": [2],
    "c5fe7f00": [1],
    "660f3a170001": [1],
    "d938": [1],
    "c00002": [1],
    "480fc708": [1],
    "d7": [],
}
disassembler = Cs(CS_ARCH_X86, CS_MODE_64)
disassembler.detail = True
seen = {}
for code in EXPECTED:
    (instruction,) = disassembler.disasm(bytes.fromhex(code), 0)
    seen[code] = [operand.access for operand in instruction.operands if operand.type == X86_OP_MEM]
    print(f"{instruction.mnemonic} {instruction.op_str}: access of the operand in memory {seen[code] or '-'}")
if seen != EXPECTED:
    sys.exit("the behaviour has changed: see the head of this script")
PYTHON
