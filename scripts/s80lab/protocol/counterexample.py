# SPDX-License-Identifier: GPL-2.0-or-later
"""Counterexamples as steps: each event, the contents of caches and memory after it, and the violated invariant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from s80lab.protocol.laws import MEANING, Fault, Snapshot, cell_fault, state_faults
from s80lab.protocol.murphi import VALUES
from s80lab.protocol.murphi_check import Exploration, Step
from s80lab.protocol.table import Access, Protocol


@dataclass(frozen=True)
class Line:
    """One event with its result: each cache (`M 1`: state and value), the value in memory and the last value stored.

    action: load, fetch, store or evict, by core `core`. The initial state has neither.
    """

    core: int | None
    action: str | None
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


def counterexample(protocol: Protocol, found: Exploration) -> Counterexample:
    """The steps of a failed exploration, with the state names of the table."""
    shots = [_snapshot(step) for step in found.steps]
    lines = [_line(None, None, "initial state: no cache holds the block", protocol, shots[0])]
    for step, before, after in zip(found.steps[1:], shots, shots[1:], strict=False):
        action = step.rule.split(".")[1]
        lines.append(_line(int(step.parameters["core"]), action, _event(protocol, step, before), protocol, after))
    error = found.error or ""
    if error in MEANING:
        return Counterexample(next(fault for fault in state_faults(protocol, shots[-1]) if fault.law == error), lines)
    core = int(found.steps[-1].parameters["core"])
    return Counterexample(cell_fault(protocol, error, core, shots[-1].states), lines)


def _snapshot(step: Step) -> Snapshot:
    variables = step.variables
    cores = sum(name.endswith(".state") for name in variables)
    return Snapshot(
        states=[variables[f"cache[{core}].state"].removeprefix("st_") for core in range(cores)],
        values=[int(variables[f"cache[{core}].value"]) for core in range(cores)],
        memory=int(variables["memory"]),
        last_write=int(variables["last_write"]),
    )


def _line(core: int | None, action: str | None, event: str, protocol: Protocol, shot: Snapshot) -> Line:
    caches = [
        state if state == protocol.invalid else f"{state} {value}"
        for state, value in zip(shot.states, shot.values, strict=True)
    ]
    return Line(core, action, event, caches, str(shot.memory), str(shot.last_write))


def _event(protocol: Protocol, step: Step, before: Snapshot) -> str:
    _, event, state = step.rule.split(".")
    core = step.parameters["core"]
    if event == "evict":
        cell = protocol.own.evict[state]
        return f"core {core} evicts the block" + (" and writes it back" if cell.writeback else "")
    change = step.parameters.get("change")
    stored = f" {(before.last_write + int(change)) % VALUES}" if change else ""
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
