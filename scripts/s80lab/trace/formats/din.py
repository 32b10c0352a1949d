# SPDX-License-Identifier: GPL-2.0-or-later
"""Dinero `din` traces: one line per access, `label address` (hexadecimal): 0 read, 1 write, 2 instruction fetch."""

from __future__ import annotations

import numpy as np

from s80lab.base.errors import UserError
from s80lab.trace.formats.exchange import Format, lines_of
from s80lab.trace.order import Op, Order, make

_LABELS = {"0": Op.LOAD, "1": Op.STORE, "2": Op.IFETCH}
_OF_OP = {Op.IFETCH: 2, Op.LOAD: 0, Op.STORE: 1, Op.WALK: 0}


def encode(order: Order, line_bytes: int) -> bytes:
    """One text line per access, with the address of the cache line."""
    labels = [_OF_OP[Op(op)] for op in order["op"].tolist()]
    return "".join(
        f"{label} {line * line_bytes:x}\n" for label, line in zip(labels, order["line"].tolist(), strict=True)
    ).encode()


def decode(content: bytes, line_bytes: int, where: str) -> Order:
    """Refuses labels above 2 (escapes, flushes). Ignores text after the address, as Dinero does."""
    ops: list[int] = []
    addresses: list[int] = []
    if content and not content.endswith(b"\n"):
        raise UserError(
            f"{where}: the last line does not end with a newline, so the file is truncated; copy the file again"
        )
    for number, text in enumerate(content.decode("ascii", "replace").splitlines(), 1):
        words = text.split()
        if not words:
            continue
        if words[0] not in _LABELS:
            raise UserError(
                f"{where}, line {number}: unknown label `{words[0]}`; allowed: 0 (read), 1 (write), 2 (fetch)"
            )
        try:
            addresses.append(int(words[1], 16))
        except (IndexError, ValueError):
            raise UserError(f"{where}, line {number}: the label has no hexadecimal address after it") from None
        if not 0 <= addresses[-1] < 1 << 64:
            raise UserError(
                f"{where}, line {number}: the address {words[1]} is not a hexadecimal number of at most 64 bits"
            )
        ops.append(_LABELS[words[0]])
    address = np.array(addresses, np.uint64)
    line, owner = lines_of(address, np.ones(len(address), np.uint64), line_bytes, where)
    return make(0, np.array(ops, np.uint8)[owner], line)


DIN = Format(
    name="din",
    suffix=".din",
    encode=encode,
    decode=decode,
    timed=False,
    export_loses="ticks, the order between processors, context, page walks (they become reads)",
    import_loses="offsets within lines; several files are merged in turn, one access of each",
)
