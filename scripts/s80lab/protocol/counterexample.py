# SPDX-License-Identifier: GPL-2.0-or-later
"""Counterexamples as steps: each event, the contents of caches and memory after it, and the violated invariant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from s80lab.protocol.laws import MEANING, Fault, Snapshot, cell_fault, home_text, state_faults
from s80lab.protocol.murphi import VALUES
from s80lab.protocol.murphi_check import Exploration, Step
from s80lab.protocol.table import Access, Protocol


@dataclass(frozen=True)
class Line:
    """One event with its result: each cache (`M 1`: state and value), the value in memory and the last value stored.

    action: load, fetch, store, evict or move, by core `core`; displace or recall, by the home. The initial state has
    neither. home: state and value of the block at the home, if the table has one.
    """

    core: int | None
    action: str | None
    event: str
    caches: list[str]
    memory: str
    last_write: str
    home: str | None = None


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
        lines.append(_line(_core(step), action, _event(protocol, step, before), protocol, after))
    error = found.error or ""
    if error in MEANING:
        return Counterexample(next(fault for fault in state_faults(protocol, shots[-1]) if fault.law == error), lines)
    return Counterexample(cell_fault(protocol, error, _core(found.steps[-1]), shots[-1].states), lines)


def _core(step: Step) -> int | None:
    """The core with the event; None for a displacement or a recall."""
    return int(step.parameters["core"]) if "core" in step.parameters else None


def _snapshot(step: Step) -> Snapshot:
    variables = step.variables
    cores = sum(name.startswith("cache[") and name.endswith(".state") for name in variables)
    return Snapshot(
        states=[variables[f"cache[{core}].state"].removeprefix("st_") for core in range(cores)],
        values=[int(variables[f"cache[{core}].value"]) for core in range(cores)],
        memory=int(variables["memory"]),
        last_write=int(variables["last_write"]),
        home=_home(variables) if "home.state" in variables else None,
    )


def _home(variables: dict[str, str]) -> tuple[str, int]:
    return variables["home.state"].removeprefix("home_"), int(variables["home.value"])


def _line(core: int | None, action: str | None, event: str, protocol: Protocol, shot: Snapshot) -> Line:
    caches = [
        state if state == protocol.invalid else f"{state} {value}"
        for state, value in zip(shot.states, shot.values, strict=True)
    ]
    home = None if shot.home is None else home_text(protocol, shot)
    return Line(core, action, event, caches, str(shot.memory), str(shot.last_write), home)


def _event(protocol: Protocol, step: Step, before: Snapshot) -> str:
    side, event, state = step.rule.split(".")
    if side == "home":
        return _loss(protocol, event, state)
    core = step.parameters["core"]
    if event == "move":
        return f"the block moves from core {core} to core {step.parameters['receiver']}"
    if event == "evict":
        cell = protocol.own.evict[state]
        if cell.writeback:
            return f"core {core} evicts the block and writes it back"
        return f"core {core} evicts the block" + (" and tells the home" if cell.put else "")
    change = step.parameters.get("change")
    stored = f" {(before.last_write + int(change)) % VALUES}" if change else ""
    miss = " (miss)" if state == protocol.invalid else ""
    return f"core {core} {_verb(event)}{stored}{miss}" + _request(protocol, cast(Access, event), state, step, before)


def _loss(protocol: Protocol, event: str, state: str) -> str:
    assert protocol.home is not None
    if event == "recall":
        return f"the directory needs the entry ({state}) and recalls the block"
    cell = (protocol.home.displace or {})[state]
    return f"the last-level cache needs the way ({state})" + (" and recalls the block" if cell.recall else "")


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
    if state != protocol.invalid:
        return f": {cell.bus} request, no cache supplies"
    if protocol.home is not None and before.home is not None:
        row = "fetch" if event == "fetch" and cell.bus == "read" else cell.bus
        if getattr(protocol.home.request_row(row)[before.home[0]], "supply", False):
            return f": {cell.bus} request, the home ({before.home[0]}) supplies"
    return f": {cell.bus} request, memory supplies"
