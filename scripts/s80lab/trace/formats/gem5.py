# SPDX-License-Identifier: GPL-2.0-or-later
"""gem5 packet traces: protocol-buffer messages (gem5's src/proto/packet.proto), each preceded by its length.

This module needs no protocol-buffer library, because the messages have only five numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from s80lab.base.errors import UserError
from s80lab.trace.formats.exchange import Format, lines_of
from s80lab.trace.order import ENTRIES, Op, Order, make

MAGIC = b"gem5"
TICK_FREQUENCY = 10**12
_COMMANDS = (
    *("InvalidCmd", "ReadReq", "ReadResp", "ReadRespWithInvalidate", "WriteReq", "WriteResp", "WriteCompleteResp"),
    *("WritebackDirty", "WritebackClean", "WriteClean", "CleanEvict", "SoftPFReq", "SoftPFExReq", "HardPFReq"),
    *("SoftPFResp", "HardPFResp", "WriteLineReq", "UpgradeReq", "SCUpgradeReq", "UpgradeResp", "SCUpgradeFailReq"),
    *("UpgradeFailResp", "ReadExReq", "ReadExResp", "ReadCleanReq", "ReadSharedReq", "LoadLockedReq", "StoreCondReq"),
    *("StoreCondFailReq", "StoreCondResp", "LockedRMWReadReq", "LockedRMWReadResp", "LockedRMWWriteReq"),
    *("LockedRMWWriteResp", "SwapReq", "SwapResp"),
)
"""The commands of gem5 24.0 (MemCmd::Command in src/mem/packet.hh) by their numbers, up to those of locked accesses."""
READ, WRITE = _COMMANDS.index("ReadReq"), _COMMANDS.index("WriteReq")
INST_FETCH, PRIVILEGED, PAGE_WALK = 0x100, 0x8000, 0x1000_0000
"""Request::INST_FETCH, PRIVILEGED and PT_WALK."""
ACCESS_BYTES = 4
UNKNOWN_ENTRY = ENTRIES - 1
"""Kernel entry cause of a privileged packet: packets do not contain the cause."""

_TICK, _CMD, _ADDR, _SIZE, _FLAGS = 1, 2, 3, 4, 5
_Bytes = npt.NDArray[np.uint8]


def encode(order: Order, line_bytes: int) -> bytes:
    """One processor's packets: 4 bytes at the beginning of each line, with the ticks of the accesses."""
    header = _field(1, b"s80lab") + _varint(3 << 3) + _varint(TICK_FREQUENCY)
    flags = np.select([order["op"] == Op.IFETCH, order["op"] == Op.WALK], [INST_FETCH, PAGE_WALK], 0) | np.where(
        order["context"] % ENTRIES > 0, PRIVILEGED, 0
    )
    columns = {
        _TICK: order["tick"],
        _CMD: np.where(order["op"] == Op.STORE, WRITE, READ),
        _ADDR: order["line"].astype(np.uint64) * np.uint64(line_bytes),
        _SIZE: np.full(len(order), ACCESS_BYTES),
        _FLAGS: flags,
    }
    return MAGIC + _varint(len(header)) + header + _packets(columns)


def decode(content: bytes, line_bytes: int, where: str) -> Order:
    """The accesses of a packet trace. Refuses commands other than reads and writes."""
    if not content.startswith(MAGIC):
        raise UserError(f"{where}: the file does not begin with `gem5`, so it is not a gem5 packet trace")
    messages = _messages(content, where)
    try:
        header = _numbers(next(messages), where)
    except StopIteration:
        raise UserError(f"{where}: the file ends before the end of its header, so it is truncated") from None
    if header.get(3) != TICK_FREQUENCY:
        raise UserError(
            f"{where}: the header has {header.get(3)} ticks per second, but gem5 and s80lab use {TICK_FREQUENCY}"
        )
    rows = array("Q")
    for number, message in enumerate(messages):
        packet = _numbers(message, where)
        if not packet.keys() >= {_TICK, _CMD, _ADDR, _SIZE}:
            raise UserError(f"{where}: packet {number} has no tick, cmd, addr or size")
        if packet[_CMD] not in (READ, WRITE):
            raise UserError(
                f"{where}: packet {number} has the command {_command(packet[_CMD])}; allowed: ReadReq (1) and "
                "WriteReq (4); record the trace between the core and its L1, without locked instructions"
            )
        rows.extend((packet[_TICK], packet[_CMD], packet[_ADDR], packet[_SIZE], packet.get(_FLAGS, 0)))
    table = np.frombuffer(rows, np.uint64).reshape(-1, 5)
    line, owner = lines_of(table[:, 2], table[:, 3], line_bytes, where)
    table = table[owner]
    flags = table[:, 4].astype(np.int64)
    op = np.select(
        [table[:, 1] == WRITE, flags & INST_FETCH != 0, flags & PAGE_WALK != 0], [Op.STORE, Op.IFETCH, Op.WALK], Op.LOAD
    )
    return make(0, op, line, table[:, 0], np.where(flags & PRIVILEGED, UNKNOWN_ENTRY, 0))


def _command(number: int) -> str:
    """Name and number of a command: `ReadExReq (22)`."""
    return f"{_COMMANDS[number]} ({number})" if number < len(_COMMANDS) else str(number)


def _packets(columns: dict[int, npt.NDArray[np.generic]]) -> bytes:
    """All packets as bytes. They are encoded together, in a matrix with one row per message; a mask selects the bytes
    that each varint uses."""
    parts: list[_Bytes] = []
    used: list[npt.NDArray[np.bool_]] = []
    for field, column in columns.items():
        digits, valid = _varints(column.astype(np.uint64))
        parts += [np.full((len(column), 1), field << 3, np.uint8), digits]
        used += [np.ones((len(column), 1), np.bool_), valid]
    body, mask = np.hstack(parts), np.hstack(used)
    length = mask.sum(axis=1).astype(np.uint8)  # below 128: one byte
    return np.hstack([length[:, None], body])[np.hstack([np.ones((len(body), 1), np.bool_), mask])].tobytes()


def _varints(values: npt.NDArray[np.uint64]) -> tuple[_Bytes, npt.NDArray[np.bool_]]:
    """The varint of each value as 10 bytes (base-128 digits, least significant first; all but the last digit have the
    high bit set), and a mask of the bytes in use."""
    shifted = values[:, None] >> (np.uint64(7) * np.arange(10, dtype=np.uint64))
    used = shifted != 0
    used[:, 0] = True
    more = np.hstack([used[:, 1:], np.zeros((len(values), 1), np.bool_)])
    digits: _Bytes = ((shifted & np.uint64(0x7F)).astype(np.uint8) | (more.astype(np.uint8) << 7)).astype(np.uint8)
    return digits, used


def _varint(value: int) -> bytes:
    digits, used = _varints(np.array([value], np.uint64))
    return digits[used].tobytes()


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _messages(content: bytes, where: str) -> Iterator[bytes]:
    at = len(MAGIC)
    while at < len(content):
        length, begin = _read_varint(content, at, where)
        if begin + length > len(content):
            raise UserError(
                f"{where}: the message at byte {at} ends beyond the end of the file, so the file is truncated"
            )
        yield content[begin : begin + length]
        at = begin + length


def _numbers(message: bytes, where: str) -> dict[int, int]:
    """The numbers of a message by field; texts and unknown fields are passed over."""
    fields: dict[int, int] = {}
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at, where)
        kind = key & 7
        if kind == 0:
            fields[key >> 3], at = _read_varint(message, at, where)
        elif kind == 2:
            length, at = _read_varint(message, at, where)
            at += length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise UserError(f"{where}: a message has a field of the unknown wire type {kind}, so the file is corrupt")
    return fields


def _read_varint(content: bytes, at: int, where: str) -> tuple[int, int]:
    value = shift = 0
    while at < len(content) and shift < 64:
        digit = content[at]
        at += 1
        value |= (digit & 0x7F) << shift
        if digit < 0x80:
            if value >= 1 << 64:
                break
            return value, at
        shift += 7
    raise UserError(f"{where}: the number at byte {at} has no end, so the file is truncated or corrupt")


GEM5 = Format(
    name="gem5",
    suffix=".trc",
    encode=encode,
    decode=decode,
    timed=True,
    export_loses="instructions between accesses, class and entry cause (user or kernel is kept), interrupts, idle gaps",
    import_loses="offsets within lines, instructions (each access counts as one), packet ids, program counters",
    held=lambda order: order,
)
