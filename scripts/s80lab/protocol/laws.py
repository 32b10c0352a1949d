# SPDX-License-Identifier: GPL-2.0-or-later
"""What a protocol must hold to: laws of every state that can be reached, and laws of the cells on the way there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from s80lab.protocol.table import ACCESSES, BUS, Access, AccessCell, Protocol

ONE_WRITER = "single writer or multiple readers"
ONE_OWNER = "at most one owner"
LAST_WRITE = "a read returns the last write"
NOT_LOST = "memory or an owner holds the last write"
POSSIBLE = "no reachable cell is impossible"
STORE_WRITES = "a store ends in a writable state"
HIT_SILENT = "what the L1 absorbs changes nothing"

MEANING = {
    ONE_WRITER: "While a core may store without asking on the bus, no other core holds a copy.",
    ONE_OWNER: "At most one cache answers for the block: holds it in a state whose eviction writes back, "
    "or that counts as M or O.",
    LAST_WRITE: "Every readable copy holds the value that was stored last, whichever core stored it.",
    NOT_LOST: "The value that was stored last is in memory or with an owner, so no eviction loses it.",
    POSSIBLE: "No sequence of events arrives at a cell that the table calls impossible.",
    STORE_WRITES: "After a store the core may store again without asking: its L1 absorbs the stores that follow.",
    HIT_SILENT: "A load or fetch of a readable block, and a store to a writable one, keep the state and ask nobody: "
    "the L1s absorb most of them, and the protocol never sees these.",
}


@dataclass(frozen=True)
class Fault:
    """A broken law and the sentence that says how."""

    law: str
    sentence: str


def cell_faults(protocol: Protocol) -> dict[str, Fault]:
    """The cells that break a law as soon as an event arrives there (`own.load.S`), or with the state that they end in
    (`own.store.I.next`, `.alone`, `.shared`, `remote.rfo.M.gives`) or the data that they store into (`.filled`)."""
    return dict([*_filled(protocol), *_impossible(protocol), *_absorbed(protocol), *_stores(protocol)])


def _filled(protocol: Protocol) -> Iterator[tuple[str, Fault]]:
    stale = "the store changes a part of the block, and the rest, as it was filled, is not what was stored last"
    for state in protocol.states:
        yield f"own.store.{state}.filled", Fault(LAST_WRITE, stale)


def _impossible(protocol: Protocol) -> Iterator[tuple[str, Fault]]:
    for row, cells in protocol.rows():
        for state, cell in cells.items():
            if cell.impossible:
                yield f"{row}.{state}", Fault(POSSIBLE, f"the table calls this impossible: {cell.impossible}")


def _absorbed(protocol: Protocol) -> Iterator[tuple[str, Fault]]:
    for event in ACCESSES:
        for state, cell in protocol.access_row(event).items():
            permission = _permission(protocol, event, state)
            if cell.possible and permission and (cell.bus is not None or cell.next != state):
                why = f"{state} is {permission}, so the L1 absorbs most {event}s unseen"
                yield f"own.{event}.{state}", Fault(HIT_SILENT, f'{why}: write next = "{state}" and no bus request')


def _permission(protocol: Protocol, event: Access, state: str) -> str | None:
    info = protocol.states[state]
    if event == "store":
        return "writable" if info.writable else None
    return "readable" if info.readable else None


def _stores(protocol: Protocol) -> Iterator[tuple[str, Fault]]:
    for state, cell in protocol.own.store.items():
        for branch, end in _ends(cell):
            if not protocol.states[end].writable:
                yield (
                    f"own.store.{state}{branch}",
                    Fault(STORE_WRITES, f"the store ends in {end}, which is not writable"),
                )
    for bus in BUS:
        if any(cell.bus == bus for cell in protocol.own.store.values()):
            for state, remote in protocol.remote_row(bus).items():
                if remote.gives and not protocol.states[remote.gives].writable:
                    sentence = f"the supplier gives the store {remote.gives}, which is not writable"
                    yield f"remote.{bus}.{state}.gives", Fault(STORE_WRITES, sentence)


def _ends(cell: AccessCell) -> list[tuple[str, str]]:
    """The branches of a possible cell with the state that each ends in."""
    if not cell.possible:
        return []
    return [(".next", cell.next)] if cell.next else [(".alone", cell.when_alone), (".shared", cell.when_shared)]
