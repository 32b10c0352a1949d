# SPDX-License-Identifier: GPL-2.0-or-later
"""Explains a trace access by access: what each cache did, and which cell of the protocol's table says so."""

from __future__ import annotations

import string
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import find_or_file, read_toml
from s80lab.base.terminal import plain_text
from s80lab.protocol.laws import Fault
from s80lab.protocol.proof import objection
from s80lab.protocol.table import load_protocol
from s80lab.trace.order import NAMES, Op
from s80lab.trace.source import Source
from s80lab.trace.tool import Impossible, steps
from s80lab.trace.values import EVENT, Values

_DOES = {"ifetch": "fetches", "load": "loads", "store": "stores to", "walk": "reads, in a page walk,"}
_ASKS = {"read": "read request", "rfo": "read for ownership", "upgrade": "upgrade request"}

WARNING = "bold red"
"""The style of a warning and of a violated invariant on the terminal."""


@dataclass(frozen=True)
class Spot:
    """A line in a core's caches: its state, the caches that hold it (`L1D+L2`), and its value."""

    state: str
    where: str
    value: int = 0

    def __str__(self) -> str:
        return f"{self.state} {self.value}"


@dataclass(frozen=True)
class Step:
    """One access. `caches`: the spot of each (core, line) that is cached after the access; `was`: the earlier states of
    the spots that the access changed; `memory`: the value in memory after the access, of each line that was written
    back (memory holds 0 for other lines); `violations`: sentences on the invariants that the access violates."""

    number: int
    core: int
    op: str
    line: int
    access: str
    comment: str
    reasons: list[str]
    supplier: int | None
    from_memory: bool
    stall: int
    was: dict[tuple[int, int], str]
    caches: dict[tuple[int, int], Spot]
    memory: dict[int, int]
    violations: list[str]


@dataclass(frozen=True)
class Lesson:
    """A trace with an explanation of each access.

    warning: a sentence if the protocol is refused or not checked, else empty.
    hidden_comments: the protocol that the hidden comments of the trace are about, else empty.
    """

    title: str
    machine: str
    protocol: str
    about_protocol: str
    states: dict[str, tuple[str, str]]  # state -> (what it counts as, description)
    invalid: str
    cores: list[int]
    lines: dict[int, str]  # line -> letter
    line_bytes: int
    steps: list[Step]
    warning: str = ""
    hidden_comments: str = ""

    @property
    def notes(self) -> list[str]:
        """Sentences about the whole trace: how values are shown, and whether comments are hidden."""
        state = next(name for name in self.states if name != self.invalid)
        values = f"{state} 2: state {state}, value 2. Memory holds 0 at first; the n-th store writes n."
        hidden = f"The comments are about {self.hidden_comments} and are hidden."
        return [values, hidden] if self.hidden_comments else [values]


def letters(lines: list[int]) -> dict[int, str]:
    """Letters A, B, C, G, H ... for the lines in the order of their first access. No letter is the name of a state."""
    alphabet = "".join(letter for letter in string.ascii_uppercase if letter not in "MOESIFD")
    return {line: alphabet[i % 19] + (str(i // 19) if i >= 19 else "") for i, line in enumerate(dict.fromkeys(lines))}


def lesson(source: Source, name: str) -> Lesson:
    """Plays the accesses of a trace through the model and explains each."""
    setup = source.setup
    table = read_toml(setup.protocol)
    teller = _Teller(table, setup.machine.l2.inclusion == "exclusive")
    told, stop = steps(source.order, setup)
    names = letters(source.order["line"][: len(told) + (stop is not None)].tolist())
    threads = setup.machine.processors.threads_per_core
    values = Values(load_protocol(setup.protocol), setup.machine.processors.count // threads)
    comments, hidden = _comments(source)
    caches: dict[tuple[int, int], Spot] = {}
    memory: dict[int, int] = {}
    done = []
    for step, comment in zip(told, comments, strict=False):
        changes = teller.changes(step)
        was = {place: caches[place].state if place in caches else teller.invalid for place in changes}
        violations = [_violation(names, *fault) for fault in values.play(step)]
        for (core, line), spot in changes.items():
            if values.block(line).memory != memory.get(line, 0):
                memory = memory | {line: values.block(line).memory}  # the earlier steps share the earlier one
            if spot.where:
                caches[core, line] = replace(spot, value=values.block(line).values[core])
            else:
                caches.pop((core, line), None)
        done.append(
            Step(
                number=step["n"] + 1,
                core=step["core"],
                op=step["op"],
                line=step["line"],
                access=_access(step["core"], step["op"], names[step["line"]]),
                comment=comment,
                reasons=teller.reasons(step, names),
                supplier=step["supplier"],
                from_memory=step["missed"] and step["supplier"] is None,
                stall=step["stall"],
                was=was,
                caches=dict(caches),
                memory=memory,
                violations=violations,
            )
        )
    if stop is not None:
        done.append(_stopped(source, len(told), comments[len(told)], stop, names, values, caches, memory))
    return Lesson(
        title=(source.text.title if source.text else "") or name,
        machine=setup.machine.name,
        protocol=table["name"],
        about_protocol=table["description"],
        states={s: (entry.get("counts_as", ""), entry["description"]) for s, entry in table["states"].items()},
        invalid=teller.invalid,
        cores=sorted({step.core for step in done}),
        lines=names,
        line_bytes=setup.machine.line_bytes,
        steps=done,
        warning=objection(setup.protocol) or "",
        hidden_comments=hidden,
    )


def _comments(source: Source) -> tuple[list[str], str]:
    """The comment of each access, and the protocol whose comments are hidden because another protocol is played."""
    none, text = [""] * len(source.order), source.text
    if text is None:
        return none, ""
    if text.protocol is None or not any(text.comments):
        return text.comments, ""
    try:
        about = find_or_file("protocol", paths.PROTOCOLS, text.protocol)
    except UserError:
        return none, text.protocol
    return (text.comments, "") if about.samefile(source.setup.protocol) else (none, text.protocol)


def _access(core: int, op: str, name: str) -> str:
    return f"core {core} {_DOES[op]} {name}"


def _violation(names: dict[int, str], line: int, fault: Fault) -> str:
    return f"{names[line]} violates the invariant `{fault.law}`: {fault.sentence}"


def _stopped(
    source: Source,
    number: int,
    comment: str,
    stop: Impossible,
    names: dict[int, str],
    values: Values,
    caches: dict[tuple[int, int], Spot],
    memory: dict[int, int],
) -> Step:
    """The access at which the model stopped. It changes nothing."""
    record = source.order[number]
    core = int(record["processor"]) // source.setup.machine.processors.threads_per_core
    op, line = NAMES[Op(int(record["op"]))], int(record["line"])
    return Step(
        number=number + 1,
        core=core,
        op=op,
        line=line,
        access=_access(core, op, names[line]),
        comment=comment,
        reasons=["the table does not say what happens, so s80lab plays neither this access nor a later one"],
        supplier=None,
        from_memory=False,
        stall=0,
        was={},
        caches=dict(caches),
        memory=memory,
        violations=[_violation(names, *values.impossible(op, line, core, stop))],
    )


class _Teller:
    """Writes the explanations of accesses, in terms of the cells of one protocol's table."""

    def __init__(self, table: dict[str, Any], exclusive: bool) -> None:
        self._table = table
        self._exclusive = exclusive
        self.invalid = next(name for name, entry in table["states"].items() if not entry.get("readable"))

    def changes(self, step: dict[str, Any]) -> dict[tuple[int, int], Spot]:
        """The spots that the access changed, and the spot of the accessed line."""
        changed = {(c["core"], c["line"]): Spot(**c["after"]) for c in step["moved"]}
        changed |= {(c["core"], c["line"]): Spot(**c["after"]) for c in step["remote"] if c["after"] != c["before"]}
        changed[step["core"], step["line"]] = Spot(**step["after"])
        return changed

    def reasons(self, step: dict[str, Any], names: dict[int, str]) -> list[str]:
        """Sentences in order: evictions, the core's own access or request, snoops, the fill."""
        room = [self._room(change, step, names) for change in step["moved"]]
        remote = [self._remote(change, step) for change in step["remote"]]
        return [*room, self._own(step), *(text for text in remote if text), *self._fill(step)]

    def _own(self, step: dict[str, Any]) -> str:
        event, state, after = EVENT[step["op"]], step["before"]["state"], step["after"]["state"]
        named = f"own.{event}.{state}"
        if step["bus"] == "none":
            found = self._found(step)
            if after != state:
                return f"{found} in {state}: silent {state}-to-{after} upgrade, no bus request ({named})"
            return f"{found} in {state}: no bus request ({named})"
        request = _ASKS[step["bus"]]
        if not step["missed"]:
            return f"{self._found(step)} in {state}, without write permission: {request}, {state} → {after} ({named})"
        return f"miss in L1 and L2: {request} ({named})"

    def _found(self, step: dict[str, Any]) -> str:
        first = "L1I" if step["op"] == "ifetch" else "L1D"
        where = step["before"]["where"].split("+")
        if first in where:
            return f"{first} hit"
        return "L2 hit" if "L2" in where else f"{first} miss, hit in the core's {where[0]}"

    def _fill(self, step: dict[str, Any]) -> list[str]:
        """The state in which a missed block is filled, and why this state."""
        if not step["missed"]:
            return []
        cell, after = self._table["own"][EVENT[step["op"]]][step["before"]["state"]], step["after"]["state"]
        supplier = next((c for c in step["remote"] if c["core"] == step["supplier"]), None)
        fill = f"fill in {after}, data from " + ("memory" if supplier is None else f"core {supplier['core']}")
        if supplier is not None and "gives" in self._table["remote"][step["bus"]][supplier["before"]["state"]]:
            return [f"{fill}: the supplier hands the block over"]
        if "next" in cell:
            return [fill]
        if any(c["after"]["where"] for c in step["remote"]):
            return [f"{fill}: another cache keeps a copy"]
        if after == cell.get("alone"):
            return [f"{fill}: no other cache keeps a copy"]
        return [f"{fill}: no cache keeps a copy, but the directory assumes sharers after the eviction of an owner"]

    def _remote(self, change: dict[str, Any], step: dict[str, Any]) -> str:
        before, after = change["before"]["state"], change["after"]["state"]
        supplies = change["core"] == step["supplier"]
        if step["bus"] == "none" or (before == after and not supplies):
            return ""
        effects = ["supplies the block"] if supplies else []
        effects += ["updates memory"] if self._table["remote"][step["bus"]][before].get("writeback") else []
        effects += [f"stays in {after}" if before == after else f"{before} → {after}"]
        snoop = f"core {change['core']} snoops the {_ASKS[step['bus']]}"
        return f"{snoop}: {', '.join(effects)} (remote.{step['bus']}.{before})"

    def _room(self, change: dict[str, Any], step: dict[str, Any], names: dict[int, str]) -> str:
        name = names.get(change["line"]) or f"line {change['line']:#x}"
        state, before, after = change["before"]["state"], change["before"]["where"], change["after"]["where"]
        if not after:
            written = "with" if self._table["own"]["evict"][state].get("writeback") else "without"
            return f"L2 eviction: {name} in {state}, {written} writeback to memory (own.evict.{state})"
        if self._exclusive and "L2" in after and "L2" not in before:
            return f"{before} eviction: {name} moves to the L2"
        if len(after) < len(before):
            return f"L1 eviction: {name} stays in the L2"
        return f"{name} moves from {before} to {after}"


def record(lesson: Lesson) -> dict[str, Any]:
    """The explained trace as plain values for JSON: each access with the contents of all caches after the access."""
    plain = asdict(lesson) | {
        "states": {
            name: {"counts_as": classed, "description": text} for name, (classed, text) in lesson.states.items()
        },
        "lines": [{"line": line, "letter": letter} for line, letter in lesson.lines.items()],
    }
    for told, step in zip(plain["steps"], lesson.steps, strict=True):
        told["was"] = [{"core": core, "line": line, "state": state} for (core, line), state in step.was.items()]
        told["memory"] = [{"line": line, "value": value} for line, value in step.memory.items()]
        told["caches"] = [{"core": core, "line": line} | asdict(spot) for (core, line), spot in step.caches.items()]
    return plain


def show(lesson: Lesson, console: Console) -> None:
    """Prints a table: for each access the line's state and value in each core (requester in bold), the value in memory,
    and the explanation. A warning comes first; violated invariants are red."""
    show_warning(lesson, console)
    table = Table(
        "step",
        "access",
        *(f"core {core}" for core in lesson.cores),
        "memory",
        "explanation (cell of the table)",
        title=plain_text(f"{lesson.title}\n{lesson.machine}, {lesson.protocol}: {lesson.about_protocol}"),
        show_lines=True,
    )
    for step in lesson.steps:
        spots = [_spot(lesson, step, core) for core in lesson.cores]
        access = plain_text(step.access).append_text(plain_text(f"\n{step.comment}" if step.comment else "", "dim"))
        text = plain_text("\n".join(step.reasons))
        for sentence in step.violations:
            text.append_text(plain_text(f"\n{sentence}", WARNING))
        table.add_row(str(step.number), access, *spots, str(step.memory.get(step.line, 0)), text)
    console.print(table)
    for line, letter in lesson.lines.items():
        console.print(f"{letter}: the line at address {line * lesson.line_bytes:#x}")
    for note in lesson.notes:
        console.print(plain_text(note))


def show_warning(lesson: Lesson, console: Console) -> None:
    """Prints the lesson's warning, if there is one, without breaking a command that the reader may copy."""
    if lesson.warning:
        console.print(plain_text(lesson.warning, WARNING), soft_wrap=True)


def _spot(lesson: Lesson, step: Step, core: int) -> Text:
    spot = step.caches.get((core, step.line))
    text = f"{spot} {spot.where}" if spot else lesson.invalid
    if core == step.core:
        return plain_text(text, "bold")
    if core == step.supplier:
        return plain_text(f"{text} supplies", "green")
    return plain_text(text, "" if (core, step.line) in step.was else "dim")


assert set(_DOES) == set(EVENT)
