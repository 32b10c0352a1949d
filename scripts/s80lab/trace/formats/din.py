# SPDX-License-Identifier: GPL-2.0-or-later
"""Dinero `din` traces: one line per access, `label address` (hexadecimal): 0 read, 1 write, 2 instruction fetch."""

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

_LABELS = {b"0": Op.LOAD, b"1": Op.STORE, b"2": Op.IFETCH}
_REFUSED = {b"3": "means an access of unknown kind in Dinero", b"4": "means a flush of the cache in Dinero"}
_HEXADECIMAL = re.compile(rb"(0[xX])?0*[0-9a-fA-F]{1,16}")
_OF_OP = {Op.IFETCH: 2, Op.LOAD: 0, Op.STORE: 1, Op.WALK: 0}


def encode(order: Order, line_bytes: int) -> bytes:
    """One text line per access, with the address of the cache line."""
    labels = [_OF_OP[Op(op)] for op in order["op"].tolist()]
    return "".join(
        f"{label} {line * line_bytes:x}\n" for label, line in zip(labels, order["line"].tolist(), strict=True)
    ).encode()


def decode(content: bytes, line_bytes: int, where: str) -> Order:
    """Refuses labels above 2 (escapes, flushes). Ignores text after the address, as Dinero does."""
    ops, addresses = bytearray(), array("Q")
    for number, text in enumerate(io.BytesIO(content.removeprefix(codecs.BOM_UTF8)), 1):
        words = text.split(maxsplit=2)
        if not words:
            continue
        at, label = f"{where}, line {number}", quoted(words[0][: 2 * MOST_QUOTED].decode("ascii", "replace"))
        if words[0] in _REFUSED:
            raise UserError(
                f"{at}: the label {label} {_REFUSED[words[0]]}, which s80lab does not support; remove these lines if "
                "the result may ignore them"
            )
        if words[0] not in _LABELS:
            raise UserError(f"{at}: unknown label {label}; allowed: 0 (read), 1 (write), 2 (fetch)")
        if len(words) == 1 or not _HEXADECIMAL.fullmatch(words[1]):
            raise UserError(f"{at}: the label has no hexadecimal address of at most 64 bits after it")
        addresses.append(int(words[1], 16))
        ops.append(_LABELS[words[0]])
    address = np.frombuffer(addresses, np.uint64)
    line, owner = lines_of(address, np.ones(len(address), np.uint64), line_bytes, where)
    return make(0, np.frombuffer(ops, np.uint8)[owner], line)


DIN = Format(
    name="din",
    suffix=".din",
    encode=encode,
    decode=decode,
    timed=False,
    export_loses="ticks, the order between processors, context, page walks (they become reads)",
    import_loses="offsets within lines",
    held=walks_as_loads,
)
