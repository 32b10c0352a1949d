# SPDX-License-Identifier: GPL-2.0-or-later
"""ChampSim traces: one 64-byte record per instruction of one processor, without times."""

from __future__ import annotations

import numpy as np

from s80lab.base.errors import UserError
from s80lab.trace.formats.exchange import Format, lines_of, walks_as_loads
from s80lab.trace.order import Op, Order, make

RECORD = np.dtype(
    [
        ("ip", "<u8"),
        ("is_branch", "u1"),
        ("branch_taken", "u1"),
        ("destination_registers", "u1", 2),
        ("source_registers", "u1", 4),
        ("destination_memory", "<u8", 2),
        ("source_memory", "<u8", 4),
    ]
)
assert RECORD.itemsize == 64
# An address of 0 means none, so nothing stands at the beginning of a line.
OFFSET = 4


def encode(order: Order, line_bytes: int) -> bytes:
    """One record per access. A fetch becomes an instruction without memory operands. A load or a store becomes an
    instruction in the line fetched last (at address 0 before the first fetch)."""
    records = np.zeros(len(order), RECORD)
    address = order["line"].astype(np.uint64) * np.uint64(line_bytes) + np.uint64(OFFSET)
    fetch = order["op"] == Op.IFETCH
    store = order["op"] == Op.STORE
    latest = np.maximum.accumulate(np.where(fetch, np.arange(len(order)), -1))
    records["ip"] = np.where(latest >= 0, address[latest], 0)
    records["destination_memory"][store, 0] = address[store]
    loads = ~(fetch | store)
    records["source_memory"][loads, 0] = address[loads]
    return records.tobytes()


def decode(content: bytes, line_bytes: int, where: str) -> Order:
    """For each record: a fetch if the instruction is in another line than the previous one, its loads, its stores."""
    if len(content) % RECORD.itemsize:
        raise UserError(
            f"{where}: the size of {len(content)} bytes is not a multiple of 64-byte records, so the file is "
            "truncated or not a ChampSim trace"
        )
    records = np.frombuffer(content, RECORD)
    flags = (records["is_branch"] > 1) | (records["branch_taken"] > 1)
    if flags.any():
        raise UserError(
            f"{where}: record {int(np.argmax(flags))} has a branch flag above 1, so the file is not a ChampSim trace"
        )
    ip = records["ip"]
    place = ip // np.uint64(line_bytes)
    fetch = np.empty(len(records), np.bool_)
    fetch[:1] = True
    fetch[1:] = (place[1:] != place[:-1]) | (ip[:-1] == 0)
    fetch &= ip != 0
    address = np.column_stack([np.where(fetch, ip, 0), records["source_memory"], records["destination_memory"]])
    op = np.tile([Op.IFETCH] + 4 * [Op.LOAD] + 2 * [Op.STORE], len(records))
    there = address.ravel() != 0
    flat = address.ravel()[there]
    line, owner = lines_of(flat, np.ones(len(flat), np.uint64), line_bytes, where)
    return make(0, op[there][owner], line)


def held(order: Order) -> Order:
    """Without the fetches of the line that was fetched last; page walks are loads."""
    fetches = np.flatnonzero(order["op"] == Op.IFETCH)
    repeated = fetches[1:][order["line"][fetches[1:]] == order["line"][fetches[:-1]]]
    return walks_as_loads(np.delete(order, repeated))


CHAMPSIM = Format(
    name="champsim",
    suffix=".champsimtrace",
    encode=encode,
    decode=decode,
    timed=False,
    export_loses="ticks, the order between processors, context, page walks (become loads), repeated fetches of a line",
    import_loses="registers, branches, offsets within lines",
    held=held,
    unit="instruction",
)
