# SPDX-License-Identifier: GPL-2.0-or-later
"""Counterexamples as steps: each event, the contents of caches and memory after it, and the violated invariant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from s80lab.protocol.laws import LAST_WRITE, MEANING, NOT_LOST, ONE_OWNER, ONE_WRITER, Fault, cell_faults
from s80lab.protocol.murphi import VALUES
from s80lab.protocol.murphi_check import Exploration, Step
from s80lab.protocol.table import Access, Protocol


@dataclass(frozen=True)
class Line:
    """One event with its result: each cache (`M 1`: state and value), the value in memory and the last value stored."""

    event: str
    caches: list[str]
    memory: str
    last_write: str


@dataclass(frozen=True)
class Counterexample:
    """A shortest sequence of events that violates an invariant. The first line is the initial state, not an event."""

    fault: Fault
    lines: list[Line]

    @property
    def events(self) -> int:
        return len(self.lines) - 1


@dataclass(frozen=True)
class Snapshot:
    """The variables of the Murphi model, with the state names of the table."""

    states: list[str]
    values: list[str]
    memory: str
    last_write: str


def counterexample(protocol: Protocol, found: Exploration) -> Counterexample:
    """The steps of a failed exploration, with the state names of the table."""
    shots = [_snapshot(step) for step in found.steps]
    lines = [_line("initial state: no cache holds the block", protocol, shots[0])]
    for step, before, after in zip(found.steps[1:], shots, shots[1:], strict=False):
        lines.append(_line(_event(protocol, step, before), protocol, after))
    error = found.error or ""
    if error in MEANING:
        return Counterexample(Fault(error, _broken(error, protocol, shots[-1])), lines)
    fault = cell_faults(protocol)[error]
    return Counterexample(Fault(fault.law, f"{_at(error, found.steps[-1], shots[-1])}: {fault.sentence}"), lines)


def _snapshot(step: Step) -> Snapshot:
    variables = step.variables
    cores = sum(name.endswith(".state") for name in variables)
    return Snapshot(
        states=[variables[f"cache[{core}].state"].removeprefix("st_") for core in range(cores)],
        values=[variables[f"cache[{core}].value"] for core in range(cores)],
        memory=variables["memory"],
        last_write=variables["last_write"],
    )


def _line(event: str, protocol: Protocol, shot: Snapshot) -> Line:
    caches = [
        state if state == protocol.invalid else f"{state} {value}"
        for state, value in zip(shot.states, shot.values, strict=True)
    ]
    return Line(event, caches, shot.memory, shot.last_write)


def _event(protocol: Protocol, step: Step, before: Snapshot) -> str:
    _, event, state = step.rule.split(".")
    core = step.parameters["core"]
    if event == "evict":
        cell = protocol.own.evict[state]
        return f"core {core} evicts the block" + (" and writes it back" if cell.writeback else "")
    change = step.parameters.get("change")
    stored = f" {(int(before.last_write) + int(change)) % VALUES}" if change else ""
    miss = " (miss)" if state == protocol.invalid else ""
    return f"core {core} {_verb(event)}{stored}{miss}" + _request(protocol, cast(Access, event), state, step, before)


def _verb(event: str) -> str:
    return {"load": "loads", "fetch": "fetches", "store": "stores"}[event]


def _request(protocol: Protocol, event: Access, state: str, step: Step, before: Snapshot) -> str:
    cell = protocol.access_row(event)[state]
    if cell.bus is None or "supplier" not in step.parameters:
        return ""
    if cell.bus == "upgrade":
        return ": upgrade request"
    supplier = int(step.parameters["supplier"])
    if str(supplier) != step.parameters["core"]:
        return f": {cell.bus} request, core {supplier} ({before.states[supplier]}) supplies {before.values[supplier]}"
    return f": {cell.bus} request, " + ("memory supplies" if state == protocol.invalid else "no cache supplies")


def _broken(law: str, protocol: Protocol, shot: Snapshot) -> str:
    """A sentence that names the cores that violate an invariant."""
    holders = [(core, state) for core, state in enumerate(shot.states) if state != protocol.invalid]
    if law == ONE_WRITER:
        writer, state = next(one for one in holders if one[1] in protocol.writers)
        other, copy = next(one for one in holders if one[0] != writer)
        return f"core {writer} ({state}) may store without a bus request while core {other} ({copy}) holds a copy"
    if law == ONE_OWNER:
        (one, first), (two, second), *_ = [holder for holder in holders if holder[1] in protocol.owners]
        return f"cores {one} ({first}) and {two} ({second}) are both owners of the block"
    if law == LAST_WRITE:
        core, state = next(one for one in holders if shot.values[one[0]] != shot.last_write)
        return f"core {core} ({state}) reads {shot.values[core]}, but the last value stored is {shot.last_write}"
    assert law == NOT_LOST
    last = shot.last_write
    return f"the last value stored is {last}, but memory holds {shot.memory} and no owner holds {last}"


def _at(place: str, step: Step, shot: Snapshot) -> str:
    """The faulty cell and the core that reached it."""
    side, event, state, *_ = place.split(".")
    core = step.parameters["core"]
    if side == "remote":
        other = next(c for c, held in enumerate(shot.states) if held == state and str(c) != core)
        return f"core {other} snoops the {event} request in {state} (cell {side}.{event}.{state})"
    return f"core {core} (cell {side}.{event}.{state})"
