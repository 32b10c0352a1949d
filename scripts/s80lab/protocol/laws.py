# SPDX-License-Identifier: GPL-2.0-or-later
"""Protocol invariants: properties of all reachable states, and properties of the cells that are reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from s80lab.protocol.table import ACCESSES, BUS, GIVERS, Access, AccessCell, Cell, HomeRows, Protocol

ONE_WRITER = "single writer or multiple readers (SWMR)"
ONE_OWNER = "at most one owner"
LAST_WRITE = "data value: a read returns the last write"
NOT_LOST = "memory or an owner holds the last write"
POSSIBLE = "an impossible cell is never reached"
STORE_WRITES = "a store ends in a writable state"
HIT_SILENT = "an access that the L1 absorbs has no effect"
DECLARED = "home: only the declared copies exist"
CURRENT = "home: a block that the last-level cache would supply is the last write"
RECALLED = "home: a recall leaves no copy"

MEANING = {
    ONE_WRITER: "While a core may store without a bus request, no other core holds a copy.",
    ONE_OWNER: "At most one cache owns the block: its state counts as M or O, or its eviction writes back.",
    LAST_WRITE: "Each readable copy holds the last value stored, whichever core stored it.",
    NOT_LOST: "Memory, an owner or a dirty block of the last-level cache holds the last value stored, so no eviction "
    "loses it.",
    POSSIBLE: "No sequence of events reaches a cell that the table marks as impossible.",
    STORE_WRITES: "After a store the core may store again without a bus request: its L1 absorbs the following stores.",
    HIT_SILENT: "A load or fetch of a readable block, and a store to a writable one, keep the state and send no bus "
    "request: the L1s absorb most of these accesses, and the protocol does not see them.",
    DECLARED: "While the home is in a state with `copies` = none, no private cache holds the block; with `copies` = "
    "one, at most one does. If all states with copies have data, the last-level cache is therefore inclusive.",
    CURRENT: "If the last-level cache would supply the next read, its block is the last value stored.",
    RECALLED: "After a recall no private cache holds the block.",
}


NAMES = tuple(MEANING)
"""The names of all invariants."""
HOME_LAWS = (DECLARED, CURRENT, RECALLED)
"""The invariants that concern only tables with [home]."""


@dataclass(frozen=True)
class Fault:
    """A violated invariant, and a sentence that describes the violation."""

    law: str
    sentence: str


@dataclass
class Snapshot:
    """One block at one moment: state and value in each core's cache, the value in memory, and the last value stored.

    The value of a core without a copy has no meaning. home: state and value at the home; None if there is no [home], or
    the machine has neither a last-level cache nor a directory.
    """

    states: list[str]
    values: list[int]
    memory: int
    last_write: int
    home: tuple[str, int] | None = None


def state_faults(protocol: Protocol, shot: Snapshot) -> Iterator[Fault]:
    """The invariants of all reachable states that this state violates, in the order in which rumur checks them."""
    holders = [(core, state) for core, state in enumerate(shot.states) if state != protocol.invalid]
    writers = [holder for holder in holders if holder[1] in protocol.writers]
    if writers and len(holders) > 1:
        writer, state = writers[0]
        other, copy = next(holder for holder in holders if holder[0] != writer)
        sentence = f"core {writer} ({state}) may store without a bus request while core {other} ({copy}) holds a copy"
        yield Fault(ONE_WRITER, sentence)
    owners = [holder for holder in holders if holder[1] in protocol.owners]
    if len(owners) > 1:
        (one, first), (two, second), *_ = owners
        yield Fault(ONE_OWNER, f"cores {one} ({first}) and {two} ({second}) are both owners of the block")
    last = shot.last_write
    for core, state in holders:
        if shot.values[core] != last:
            yield stale_read(core, state, shot)
            break
    kept = protocol.home is not None and shot.home is not None and protocol.home.states[shot.home[0]].dirty
    kept = kept and shot.home is not None and shot.home[1] == last
    if shot.memory != last and not kept and not any(shot.values[core] == last for core, _ in owners):
        home = "" if shot.home is None else f", the home ({home_text(protocol, shot)}) has no dirty block with {last}"
        sentence = f"the last value stored is {last}, but memory holds {shot.memory}{home} and no owner holds {last}"
        yield Fault(NOT_LOST, sentence)
    if protocol.home is not None and shot.home is not None:
        yield from _home_faults(protocol, protocol.home, shot, *shot.home)


def home_text(protocol: Protocol, shot: Snapshot) -> str:
    """State and value of the block at the home, for a table with [home]; without the value if the state has no data."""
    assert protocol.home is not None and shot.home is not None
    state, value = shot.home
    return f"{state} {value}" if protocol.home.states[state].data else state


def _home_faults(protocol: Protocol, home: HomeRows, shot: Snapshot, state: str, value: int) -> Iterator[Fault]:
    info = home.states[state]
    holders = [core for core, held in enumerate(shot.states) if held != protocol.invalid]
    if len(holders) > {"none": 0, "one": 1, "any": len(shot.states)}[info.copies]:
        who = " and ".join(f"core {core} ({shot.states[core]})" for core in holders)
        yield Fault(DECLARED, f"the home's state {state} has copies = {info.copies}, but {who} hold the block")
    cell = home.read[state]
    supplied = any(protocol.remote.read[shot.states[core]].supply for core in holders)
    if cell.possible and cell.supply and (cell.first or not supplied) and value != shot.last_write:
        sentence = f"the home ({state}) would supply {value} to a read, but the last value stored is {shot.last_write}"
        yield Fault(CURRENT, sentence)


def stale_read(core: int, state: str, shot: Snapshot) -> Fault:
    """The violation by a core whose copy is not the last value stored."""
    sentence = f"core {core} ({state}) reads {shot.values[core]}, but the last value stored is {shot.last_write}"
    return Fault(LAST_WRITE, sentence)


def cell_fault(protocol: Protocol, place: str, core: int | None, states: Sequence[str]) -> Fault:
    """The violation of the faulty cell at `place` (`cell_faults`), with the cores that reached it.

    core: the core with the event, or none if the home has it. states: the state of the block in each core.
    """
    fault = cell_faults(protocol)[place]
    side, event, state, *_ = place.split(".")
    if side == "home":
        cell = ".".join(place.split(".")[: 4 if event == "put" else 3])
        return Fault(fault.law, f"the home (cell {cell}): {fault.sentence}")
    if event == "recall":
        return Fault(fault.law, f"the home recalls a copy in {state} (cell remote.recall.{state}): {fault.sentence}")
    who = f"core {core}"
    if side == "remote":
        other = next(c for c, held in enumerate(states) if held == state and c != core)
        who = f"core {other} snoops the {event} request in {state}"
    return Fault(fault.law, f"{who} (cell {side}.{event}.{state}): {fault.sentence}")


def cell_faults(protocol: Protocol) -> dict[str, Fault]:
    """The violation of each faulty cell, by the cell's place in the table.

    A place is a cell (`own.load.S`: every event there violates the invariant), a cell's next state (`own.store.I.next`,
    `.alone`, `.shared`, `remote.rfo.M.gives`), or the data that a store modifies (`.filled`).
    """
    faults = [_filled(protocol), _impossible(protocol.rows()), _absorbed(protocol), _stores(protocol), _home(protocol)]
    return dict(fault for kind in faults for fault in kind)


def _filled(protocol: Protocol) -> Iterator[tuple[str, Fault]]:
    stale = "the store changes part of the block, but the rest of the block is stale"
    for state in protocol.states:
        yield f"own.store.{state}.filled", Fault(LAST_WRITE, stale)


def _impossible(rows: Iterable[tuple[str, Mapping[str, Cell]]]) -> Iterator[tuple[str, Fault]]:
    for row, cells in rows:
        for state, cell in cells.items():
            if cell.impossible:
                yield f"{row}.{state}", Fault(POSSIBLE, f"the table marks this cell as impossible: {cell.impossible}")


def _home(protocol: Protocol) -> Iterator[tuple[str, Fault]]:
    for state, recalled in (protocol.remote.recall or {}).items():
        if recalled.possible and recalled.after != protocol.invalid:
            yield f"remote.recall.{state}.next", Fault(RECALLED, f"the copy stays, in {recalled.after}")
    home = protocol.home
    if home is None:
        return
    yield from _impossible(home.rows())
    for giver in GIVERS:
        for state, info in home.states.items():
            if not info.tracked:
                sentence = f"a private cache gives up the block ({giver}), but {state} has copies = none"
                yield f"home.put.{giver}.{state}", Fault(DECLARED, sentence)
    for state, rfo in home.rfo.items():
        if rfo.gives and not protocol.states[rfo.gives].writable:
            sentence = f"the home hands over {rfo.gives} for a store, but {rfo.gives} is not writable"
            yield f"home.rfo.{state}.gives", Fault(STORE_WRITES, sentence)


def _absorbed(protocol: Protocol) -> Iterator[tuple[str, Fault]]:
    for event in ACCESSES:
        for state, cell in protocol.access_row(event).items():
            permission = _permission(protocol, event, state)
            if cell.possible and permission and (cell.bus is not None or cell.next != state):
                why = f"{state} is {permission}, so the L1 absorbs most accesses of this kind ({event})"
                yield f"own.{event}.{state}", Fault(HIT_SILENT, f'{why}: write next = "{state}" without bus')


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
                    sentence = f"the supplier hands over {remote.gives} for a store, but {remote.gives} is not writable"
                    yield f"remote.{bus}.{state}.gives", Fault(STORE_WRITES, sentence)


def _ends(cell: AccessCell) -> list[tuple[str, str]]:
    """The branches of a possible cell with the next state of each branch."""
    if not cell.possible:
        return []
    return [(".next", cell.next)] if cell.next else [(".alone", cell.when_alone), (".shared", cell.when_shared)]
