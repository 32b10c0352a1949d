# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of the course CS4223: one text line per entry, `label value`. Label 0 is a load and 1 a store of an address;
label 2 is a number of cycles of computation before the next access. In `din`, label 2 is a fetch."""

from __future__ import annotations

import codecs
import io
import re
from array import array

import numpy as np

from s80lab.base.errors import UserError
from s80lab.base.terminal import MOST_QUOTED, quoted
from s80lab.trace.formats.exchange import Format, lines_of, walks_as_loads
from s80lab.trace.order import Op, Order, make

MOST_CYCLES = 1 << 36
"""Most cycles of computation in a file."""
_OPS = {b"0": Op.LOAD, b"1": Op.STORE}
_CYCLES = b"2"
_VALUE = re.compile(rb"0[xX]0*[0-9a-fA-F]{1,16}")


def encode(order: Order, line_bytes: int) -> bytes:
    """One text line per access, with the address of the cache line. UserError for an instruction fetch."""
    if (order["op"] == Op.IFETCH).any():
        raise UserError(
            "the format cs4223 cannot hold instruction fetches, which the trace contains; export it in another format"
        )
    rows = zip((order["op"] == Op.STORE).tolist(), order["line"].tolist(), strict=True)
    return "".join(f"{int(store)} {line * line_bytes:#x}\n" for store, line in rows).encode()


def decode(content: bytes, line_bytes: int, where: str) -> Order:
    """The loads and stores. The tick of an access is the number of instructions before it: one for each access, and one
    for each cycle of computation."""
    ops, addresses, ticks, tick = bytearray(), array("Q"), array("Q"), 0
    for number, text in enumerate(io.BytesIO(content.removeprefix(codecs.BOM_UTF8)), 1):
        words = text.split()
        if not words:
            continue
        at, label = f"{where}, line {number}", words[0]
        if label not in (*_OPS, _CYCLES):
            shown = quoted(label[: 2 * MOST_QUOTED].decode("ascii", "replace"))
            raise UserError(f"{at}: unknown label {shown}; allowed: 0 (load), 1 (store), 2 (cycles of computation)")
        if len(words) != 2 or not _VALUE.fullmatch(words[1]):
            raise UserError(f"{at}: the label needs one hexadecimal number 0x... of at most 64 bits after it")
        value = int(words[1], 16)
        if label == _CYCLES:
            tick += value
        else:
            ops.append(_OPS[label])
            addresses.append(value)
            ticks.append(tick)
            tick += 1
        if tick > MOST_CYCLES:
            raise UserError(f"{at}: the file has more than {MOST_CYCLES} cycles; cut the trace into smaller files")
    address = np.frombuffer(addresses, np.uint64)
    line, owner = lines_of(address, np.ones(len(address), np.uint64), line_bytes, where)
    return make(0, np.frombuffer(ops, np.uint8)[owner], line, np.frombuffer(ticks, np.uint64)[owner])


def held(order: Order) -> Order:
    """Page walks are loads, and one instruction follows the other."""
    kept = walks_as_loads(order)
    kept["tick"] = np.arange(len(kept))
    return kept


CS4223 = Format(
    name="cs4223",
    suffix=".data",
    encode=encode,
    decode=decode,
    timed=True,
    export_loses="ticks, the order between processors, context, instructions, page walks (they become loads)",
    import_loses="offsets within lines, cycles after the last access",
    held=held,
    counts_instructions=True,
)
