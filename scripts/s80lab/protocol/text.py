# SPDX-License-Identifier: GPL-2.0-or-later
"""A protocol's table as short texts, for the terminal and for the pages in docs/reference/protocols."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from s80lab.protocol.table import BUS, AccessCell, Cell, EvictCell, Protocol, RemoteCell

NOTHING = "·"
TEMPLATE = Path(__file__).with_name("template.toml")  # the start of a new table


@dataclass(frozen=True)
class StateTable:
    """Rows are states, columns are events. `reasons` are the notes that impossible cells (`—¹`) refer to."""

    columns: list[str]
    rows: list[tuple[str, list[str]]]
    reasons: list[str]


def state_table(protocol: Protocol) -> StateTable:
    """All cells of the table, with events as columns."""
    reasons: list[str] = []
    columns = list(protocol.rows())
    rows = []
    for state in protocol.states:
        rows.append((state, [_cell(protocol, cells[state], state, reasons) for _, cells in columns]))
    return StateTable([_heading(name) for name, _ in columns], rows, reasons)


def permissions(protocol: Protocol, state: str) -> str:
    """The accesses that a core may do in a state without a bus request."""
    if state == protocol.invalid:
        return NOTHING
    return "read, write" if state in protocol.writers else "read"


def roles(protocol: Protocol, state: str) -> str:
    """`owner` (eviction writes back, or counts as M or O) and `supplier` (supplies data for a read or rfo)."""
    words = ["owner"] if state in protocol.owners else []
    words += ["supplier"] if any(protocol.remote_row(bus)[state].supply for bus in BUS) else []
    return ", ".join(words) or NOTHING


def superscript(number: int) -> str:
    """The number in superscript digits."""
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _heading(row: str) -> str:
    side, event = row.split(".")
    return event if side == "own" else f"snoops {event}"


def _cell(protocol: Protocol, cell: Cell, state: str, reasons: list[str]) -> str:
    if cell.impossible is not None:
        if cell.impossible not in reasons:
            reasons.append(cell.impossible)
        return "—" + superscript(reasons.index(cell.impossible) + 1)
    if isinstance(cell, AccessCell):
        return _access(cell)
    assert isinstance(cell, EvictCell | RemoteCell)
    words = [cell.next or ""]
    if isinstance(cell, RemoteCell):
        words += ["supplies"] if cell.supply else []
        words += [f"requester fills {cell.gives}"] if cell.gives else []
    words += ["writes back"] if cell.writeback else []
    if isinstance(cell, EvictCell):
        words += ["sharers assumed"] if cell.leaves_shared else []
    return NOTHING if state == protocol.invalid and len(words) == 1 else ", ".join(words)


def _access(cell: AccessCell) -> str:
    request = f"{cell.bus} → " if cell.bus else ""
    return request + (cell.next or f"{cell.alone} (alone), {cell.shared} (shared)")
