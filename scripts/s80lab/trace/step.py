# SPDX-License-Identifier: GPL-2.0-or-later
"""Explains a trace access by access: what each cache did, and which cell of the protocol's table says so."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import read_toml
from s80lab.protocol.laws import Fault
from s80lab.protocol.proof import objection
from s80lab.protocol.table import load_protocol
from s80lab.trace.order import NAMES, Op
from s80lab.trace.source import Source
from s80lab.trace.tool import Impossible, Stopped, steps
from s80lab.trace.values import EVENT, Values

_DOES = {"ifetch": "fetches", "load": "loads", "store": "stores to", "walk": "reads, in a page walk,"}
_REQUESTS = ("read", "fetch", "rfo", "upgrade")
_LOSES = {"displace": "the last-level cache needs the way of", "recall": "the directory needs the entry of"}
_ASKS = {"read": "read request", "rfo": "read for ownership", "upgrade": "upgrade request"}


@dataclass(frozen=True)
class Spot:
    """A line in a core's caches or in a group cache: its state, the caches that hold it (`L1D+L2`, or `group`), and its
    value."""

    state: str
    where: str
    value: int = 0

    def __str__(self) -> str:
        return f"{self.state} {self.value}"


@dataclass(frozen=True)
class Step:
    """One access, and what it changed.

    number: from 1, counted in the file. changes: the new spot of each (core, line) that the access changed, or of the
    accessing core; None: no longer cached. was: the earlier state of each of these. copies: the spots of the accessed
    line after the access, by core. A group cache has the number of a core after the machine's cores. from_llc,
    from_group: whether the last-level cache or the core's group cache sent the data. at_home: the accessed line's state
    at the home after the access; empty if the protocol has no home of its own. written: the new value in memory of each
    line that was written back. in_memory: the value in memory of the accessed line. violations: sentences on the
    invariants that the access violates.
    """

    number: int
    processor: int
    core: int
    op: str
    line: int
    access: str
    comment: str
    reasons: list[str]
    supplier: int | None
    from_memory: bool
    from_llc: bool
    from_group: bool
    at_home: str
    stall: int
    was: dict[tuple[int, int], str]
    changes: dict[tuple[int, int], Spot | None]
    copies: dict[int, Spot]
    written: dict[int, int]
    in_memory: int
    violations: list[str]


@dataclass
class Contents:
    """The contents of all caches by (core, line), and of memory by line; memory holds 0 for other lines."""

    caches: dict[tuple[int, int], Spot] = field(default_factory=dict)
    memory: dict[int, int] = field(default_factory=dict)

    def apply(self, step: Step) -> None:
        """Moves to the contents after an access."""
        self.memory |= step.written
        for place, spot in step.changes.items():
            if spot is None:
                self.caches.pop(place, None)
            else:
                self.caches[place] = spot


@dataclass(frozen=True)
class Lesson:
    """A trace with an explanation of each access.

    setup: the sentence on machine, settings and protocol. machine_cores: the number of the machine's cores.
    first: number of the first access in `steps`, from 0.
    accesses: the number of accesses in the file; None if a capture has more accesses than were read.
    before: contents of caches and memory before the first of `steps`. without_processor: the trace names none.
    warning: a sentence if the protocol is refused or not checked, else empty.
    hidden_comments: the protocol that the hidden comments of the trace are about, else empty.
    """

    title: str
    machine: str
    protocol: str
    about_protocol: str
    states: dict[str, tuple[str, str]]  # state -> (what it counts as, description)
    invalid: str
    cores: list[int]  # those that access something, and the group caches that hold something
    lines: dict[int, str]  # line -> letter
    line_bytes: int
    steps: list[Step]
    setup: str = ""
    machine_cores: int = 0
    first: int = 0
    accesses: int | None = None
    before: Contents = field(default_factory=Contents)
    without_processor: bool = False
    warning: str = ""
    hidden_comments: str = ""

    def holder(self, number: int) -> str:
        """The words for a core or a group cache."""
        return _holder(number, self.machine_cores)

    def contents(self) -> Iterator[tuple[Step, Contents]]:
        """Each access with the contents after it. The contents are valid until the next access."""
        now = Contents(dict(self.before.caches), dict(self.before.memory))
        for step in self.steps:
            now.apply(step)
            yield step, now

    @property
    def shown_lines(self) -> dict[int, str]:
        """The letters of the lines that the steps access or change."""
        lines = {line for step in self.steps for line in (step.line, *(place[1] for place in step.changes))}
        return {line: letter for line, letter in self.lines.items() if line in lines}

    @property
    def left_out(self) -> str:
        """A sentence on accesses of the file that are not shown; empty if all are shown."""
        shown, stopped = len(self.steps), bool(self.steps) and not self.steps[-1].changes
        if self.accesses == shown or (stopped and not self.first):
            return ""
        total = f"of {self.accesses} accesses" if self.accesses is not None else "accesses of the capture"
        part = f", from {self.first} on" if self.first else ""
        more = self.accesses is None or self.first + shown < self.accesses
        return f"{shown} {total}{part}" + ("; --count N shows more" if more and not stopped else "")

    @property
    def notes(self) -> list[str]:
        """Sentences about the whole trace: how values are shown, and what is hidden or assumed."""
        state = next(name for name in self.states if name != self.invalid)
        values = f"{state} 2: state {state}, value 2. Memory holds 0 at first; the n-th store writes n."
        hidden = f"The comments are about {self.hidden_comments} and are hidden."
        nameless = "The trace names no processor: all accesses are those of processor 0."
        notes = {values: True, hidden: bool(self.hidden_comments), nameless: self.without_processor}
        return [note for note, holds in notes.items() if holds]


def _holder(number: int, machine_cores: int) -> str:
    return f"core {number}" if number < machine_cores else f"group cache {number - machine_cores}"


def letters(lines: list[int]) -> dict[int, str]:
    """Letters A, B, C, G, H ... for the lines in the order of their first access. No letter is the name of a state."""
    alphabet = "".join(letter for letter in string.ascii_uppercase if letter not in "MOESIFD")
    return {line: alphabet[i % 19] + (str(i // 19) if i >= 19 else "") for i, line in enumerate(dict.fromkeys(lines))}


def lesson(source: Source, name: str, first: int = 0) -> Lesson:
    """Plays all accesses of `source` through the model, and explains those from `first` on."""
    setup = source.setup
    cores = setup.machine.cores
    table = read_toml(setup.protocol)
    player = _Player(source, table)
    comments, hidden = _comments(source)
    done, before, played = [], Contents(), 0
    stop: Impossible | None = None
    try:
        for step, comment in zip(steps(source.order, setup), comments, strict=False):
            made = player.play(step, comment)
            played += 1
            if played > first:
                done.append(made)
            else:
                before.apply(made)
    except Stopped as stopped:
        stop = stopped.at
    if stop is not None:
        done.append(player.stopped(source.order[played], played, comments[played], stop))
    return Lesson(
        title=(source.text.title if source.text else "") or name,
        machine=setup.machine.name,
        protocol=table["name"],
        about_protocol=table["description"],
        states={s: (entry.get("counts_as", ""), entry["description"]) for s, entry in table["states"].items()},
        invalid=player.teller.invalid,
        cores=sorted(
            {step.core for step in done} | {core for step in done for core, _ in step.changes if core >= cores}
        ),
        lines=player.names,
        line_bytes=setup.machine.line_bytes,
        steps=done,
        setup=setup.sentence(),
        machine_cores=cores,
        first=first,
        accesses=source.accesses,
        before=before,
        without_processor=source.text is not None and source.text.without_processor,
        warning=objection(setup.protocol) or "",
        hidden_comments=hidden,
    )


class _Player:
    """Turns what the model says about each access into steps, from cold caches on."""

    def __init__(self, source: Source, table: dict[str, Any]) -> None:
        machine = source.setup.machine
        self._threads = machine.processors.threads_per_core
        self.teller = _Teller(table, not machine.l2.inclusion.startswith("inclusive"), machine.cores)
        self.names = letters(source.order["line"].tolist())
        self._values = Values(load_protocol(source.setup.protocol), machine.cores + machine.groups)
        self._copies: dict[int, dict[int, Spot]] = {}
        self._memory: dict[int, int] = {}

    def play(self, step: dict[str, Any], comment: str) -> Step:
        """One access as the model explains it."""
        line, core, op = step["line"], step["core"], step["op"]
        changed = self.teller.changes(step)
        was = {place: self._state(*place) for place in changed}
        violations = [_violation(self.names, *fault) for fault in self._values.play(step)]
        changes: dict[tuple[int, int], Spot | None] = {}
        written = {}
        for place, spot in changed.items():
            block = self._values.block(place[1])
            if block.memory != self._memory.get(place[1], 0):
                self._memory[place[1]] = written[place[1]] = block.memory
            copies = self._copies.setdefault(place[1], {})
            if spot.where:
                copies[place[0]] = changes[place] = replace(spot, value=block.values[place[0]])
            else:
                copies.pop(place[0], None)
                changes[place] = None
        return Step(
            number=step["n"] + 1,
            processor=step["processor"],
            core=core,
            op=op,
            line=line,
            access=self._access(step["processor"], op, line),
            comment=comment,
            reasons=self.teller.reasons(step, self.names),
            supplier=step["supplier"],
            from_memory=step["missed"]
            and step["supplier"] is None
            and not (step.get("from_llc") or step.get("from_group")),
            from_llc=step.get("from_llc", False),
            from_group=step.get("from_group", False),
            at_home=(self._values.block(line).home or ("",))[0] if "home" in step else "",
            stall=step["stall"],
            was=was,
            changes=changes,
            copies=dict(self._copies.get(line, {})),
            written=written,
            in_memory=self._memory.get(line, 0),
            violations=violations,
        )

    def stopped(self, record: Any, number: int, comment: str, stop: Impossible) -> Step:
        """The access at which the model stopped. It changes nothing."""
        processor, op, line = int(record["processor"]), NAMES[Op(int(record["op"]))], int(record["line"])
        core = processor // self._threads
        return Step(
            number=number + 1,
            processor=processor,
            core=core,
            op=op,
            line=line,
            access=self._access(processor, op, line),
            comment=comment,
            reasons=["the table does not say what happens, so s80lab plays neither this access nor a later one"],
            supplier=None,
            from_memory=False,
            from_llc=False,
            from_group=False,
            at_home="",
            stall=0,
            was={},
            changes={},
            copies=dict(self._copies.get(line, {})),
            written={},
            in_memory=self._memory.get(line, 0),
            violations=[_violation(self.names, *self._values.impossible(op, line, core, stop))],
        )

    def _state(self, core: int, line: int) -> str:
        spot = self._copies.get(line, {}).get(core)
        return spot.state if spot else self.teller.invalid

    def _access(self, processor: int, op: str, line: int) -> str:
        core = processor // self._threads
        who = f"core {core}" if self._threads == 1 else f"processor {processor} (core {core})"
        return f"{who} {_DOES[op]} {self.names[line]}"


def _comments(source: Source) -> tuple[list[str], str]:
    """The comment of each access, and the protocol whose comments are hidden because another protocol is played."""
    none, text = [""] * len(source.order), source.text
    if text is None:
        return none, ""
    about = text.header.protocol
    if about is None or not any(text.comments):
        return text.comments, ""
    try:
        same = about.path("protocol", paths.PROTOCOLS).samefile(source.setup.protocol)
    except UserError:
        same = False
    return (text.comments, "") if same else (none, about.table_name)


def _violation(names: dict[int, str], line: int, fault: Fault) -> str:
    return f"{names[line]} violates the invariant `{fault.law}`: {fault.sentence}"


class _Teller:
    """Writes the explanations of accesses, in terms of the cells of one protocol's table."""

    def __init__(self, table: dict[str, Any], exclusive: bool, cores: int) -> None:
        self._table = table
        self._cores = cores
        self._exclusive = exclusive
        self.invalid = next(name for name, entry in table["states"].items() if not entry.get("readable"))

    def changes(self, step: dict[str, Any]) -> dict[tuple[int, int], Spot]:
        """The spots that the access changed, and the spot of the accessed line."""
        changed = {(c["core"], c["line"]): Spot(**c["after"]) for c in step["moved"]}
        for move in step.get("group", []):
            changed[move["from"], move["line"]] = Spot(self.invalid, "")
            if move["to"] is not None:
                changed[move["to"], move["line"]] = Spot(move["state"], "group")
        recalled = [change for cell in step.get("home", []) for change in cell["recalled"]]
        for c in (*(c for c in step["remote"] if c["after"] != c["before"]), *recalled):
            spot = Spot(**c["after"])
            in_group = spot.where and c["core"] >= self._cores
            changed[c["core"], c["line"]] = replace(spot, where="group") if in_group else spot
        changed[step["core"], step["line"]] = Spot(**step["after"])
        return changed

    def reasons(self, step: dict[str, Any], names: dict[int, str]) -> list[str]:
        """Sentences in order: evictions, what the home does before the request, the core's own access or request,
        snoops, the home's cell, the fill, what the home does after it."""
        room = [self._room(change, step, names) for change in step["moved"]]
        room += [self._out_of_group(move, step, names) for move in step.get("group", []) if move["to"] is None]
        remote = [self._remote(change, step) for change in step["remote"]]
        cells = step.get("home", [])
        puts = [self._at_home(cell, names) for cell in cells if cell["event"].startswith("put.")]
        requested = next((n for n, cell in enumerate(cells) if cell["event"] in _REQUESTS), 0)
        losses = [
            (n < requested, [self._at_home(cell, names), *self._recalled(cell, names)])
            for n, cell in enumerate(cells)
            if cell["event"] in _LOSES
        ]
        before = [text for early, texts in losses if early for text in texts]
        after = [text for early, texts in losses if not early for text in texts]
        home = [self._at_home(cell, names) for cell in cells if cell["event"] in _REQUESTS]
        return [*room, *puts, *before, self._own(step), *filter(None, remote), *home, *self._fill(step), *after]

    def _at_home(self, cell: dict[str, Any], names: dict[int, str]) -> str:
        """What the home does with a block, and which cell says so."""
        event, before, after = cell["event"], cell["before"], cell["after"]
        row = "read" if event == "fetch" and "fetch" not in self._table["home"] else event
        name = names.get(cell["line"]) or f"line {cell['line']:#x}"
        change = f"stays in {before}" if before == after else f"{before} → {after}"
        if event in _LOSES:
            text = f"{_LOSES[event]} {name}: {name} at home {change}"
            text += ", with writeback to memory" if self._table["home"][row][before].get("writeback") else ""
        elif event in _REQUESTS:
            text = f"home of {name}: {change}"
        else:
            text = f"{self._holder(cell['core'])} gives {name} to its home: {change}"
        return f"{text} (home.{row}.{before})"

    def _recalled(self, cell: dict[str, Any], names: dict[int, str]) -> Iterator[str]:
        for change in cell["recalled"]:
            state = change["before"]["state"]
            name = names.get(cell["line"]) or f"line {cell['line']:#x}"
            written = ", with writeback" if self._table["remote"]["recall"][state].get("writeback") else ""
            yield f"recall: {self._holder(change['core'])} loses {name} in {state}{written} (remote.recall.{state})"

    def _own(self, step: dict[str, Any]) -> str:
        move = next((move for move in step.get("group", []) if move["to"] == step["core"]), None)
        event, state, after = EVENT[step["op"]], (move or step["before"])["state"], step["after"]["state"]
        named = f"own.{event}.{state}"
        if move is not None:
            found = f"miss in L1 and L2, {self._holder(move['from'])} gives up the block"
        else:
            found = self._found(step)
        if step["bus"] == "none":
            if after != state:
                return f"{found} in {state}: silent {state}-to-{after} upgrade, no bus request ({named})"
            return f"{found} in {state}: no bus request ({named})"
        request = _ASKS[step["bus"]]
        if move is not None or not step["missed"]:
            return f"{found} in {state}, without write permission: {request}, {state} → {after} ({named})"
        return f"miss in L1 and L2: {request} ({named})"

    def _found(self, step: dict[str, Any]) -> str:
        if step["missed"]:
            return ""
        first = "L1I" if step["op"] == "ifetch" else "L1D"
        where = step["before"]["where"].split("+")
        if first in where:
            return f"{first} hit"
        return "L2 hit" if "L2" in where else f"{first} miss, hit in the core's {where[0]}"

    def _fill(self, step: dict[str, Any]) -> list[str]:
        """The state in which a missed block is filled, and why this state."""
        if not step["missed"]:
            return []
        if step.get("from_group"):
            return ["the miss comes after a recall of this core's copy"] if step.get("after_recall") else []
        cell, after = self._table["own"][EVENT[step["op"]]][step["before"]["state"]], step["after"]["state"]
        supplier = next((c for c in step["remote"] if c["core"] == step["supplier"]), None)
        place = "the last-level cache" if step.get("from_llc") else "memory"
        fill = f"fill in {after}, data from " + (place if supplier is None else self._holder(supplier["core"]))
        if step.get("after_recall"):
            fill += ", after a recall of this core's copy"
        at_home = next((c for c in step.get("home", []) if c["event"] in _REQUESTS), None)
        granted = self._home_cell(at_home) if at_home else {}
        if supplier is not None and "gives" in self._table["remote"][step["bus"]][supplier["before"]["state"]]:
            return [f"{fill}: the supplier hands the block over"]
        if step.get("from_llc") and "gives" in granted:
            return [f"{fill}: the home hands the block over"]
        if "next" in cell:
            return [fill]
        if any(c["after"]["where"] for c in step["remote"]):
            return [f"{fill}: another cache keeps a copy"]
        if after == cell.get("alone"):
            return [f"{fill}: no other cache keeps a copy"]
        if "grants" in granted:
            return [f"{fill}: the home grants a shared copy only"]
        return [f"{fill}: no cache keeps a copy, but the directory assumes sharers after the eviction of an owner"]

    def _answers_alone(self, step: dict[str, Any]) -> bool:
        """Whether the last-level cache answered without asking the private caches."""
        return any(c["event"] in ("read", "fetch") and self._home_cell(c).get("first") for c in step["home"])

    def _home_cell(self, cell: dict[str, Any]) -> dict[str, Any]:
        rows = self._table["home"]
        found: dict[str, Any] = rows.get(cell["event"], rows["read"])[cell["before"]]
        return found

    def _remote(self, change: dict[str, Any], step: dict[str, Any]) -> str:
        before, after = change["before"]["state"], change["after"]["state"]
        supplies = change["core"] == step["supplier"]
        asked = not (step.get("home") and self._answers_alone(step))
        if step["bus"] == "none" or (before == after and not supplies) or not asked:
            return ""
        effects = ["supplies the block"] if supplies else []
        effects += ["updates memory"] if self._table["remote"][step["bus"]][before].get("writeback") else []
        effects += [f"stays in {after}" if before == after else f"{before} → {after}"]
        snoop = f"{self._holder(change['core'])} snoops the {_ASKS[step['bus']]}"
        return f"{snoop}: {', '.join(effects)} (remote.{step['bus']}.{before})"

    def _room(self, change: dict[str, Any], step: dict[str, Any], names: dict[int, str]) -> str:
        name = names.get(change["line"]) or f"line {change['line']:#x}"
        state, before, after = change["before"]["state"], change["before"]["where"], change["after"]["where"]
        move = next(
            (m for m in step.get("group", []) if (m["from"], m["line"]) == (change["core"], change["line"])), None
        )
        if move is not None:
            return f"L2 eviction: {name} in {state} moves to {self._holder(move['to'])}"
        if not after:
            written = "with" if self._table["own"]["evict"][state].get("writeback") else "without"
            where = "" if step.get("home") else " to memory"
            return f"L2 eviction: {name} in {state}, {written} writeback{where} (own.evict.{state})"
        if self._exclusive and "L2" in after and "L2" not in before:
            return f"{before} eviction: {name} moves to the L2"
        if len(after) < len(before):
            return f"L1 eviction: {name} stays in the L2"
        return f"{name} moves from {before} to {after}"

    def _out_of_group(self, move: dict[str, Any], step: dict[str, Any], names: dict[int, str]) -> str:
        name = names.get(move["line"]) or f"line {move['line']:#x}"
        written = "with" if self._table["own"]["evict"][move["state"]].get("writeback") else "without"
        where = "" if step.get("home") else " to memory"
        group = self._holder(move["from"])
        return f"{group} evicts {name} in {move['state']}, {written} writeback{where} (own.evict.{move['state']})"

    def _holder(self, number: int) -> str:
        return _holder(number, self._cores)


def record(lesson: Lesson, complete: bool = False) -> dict[str, Any]:
    """The explained trace as plain values for JSON (docs/reference/interfaces/steps.md): each access with what it
    changed. complete: also with the contents of all caches and of memory after it."""
    lines = lesson.lines if complete else lesson.shown_lines
    left = {"steps", "before"}
    plain = {one.name: getattr(lesson, one.name) for one in fields(lesson) if one.name not in left}
    plain["states"] = {
        name: {"counts_as": classed, "description": text} for name, (classed, text) in lesson.states.items()
    }
    plain["lines"] = [{"line": line, "letter": letter} for line, letter in lines.items()]
    plain["shown"] = len(lesson.steps)
    plain["steps"] = [_step_record(step, now if complete else None) for step, now in lesson.contents()]
    return plain


def _step_record(step: Step, now: Contents | None) -> dict[str, Any]:
    plain: dict[str, Any] = dict(vars(step))
    plain["was"] = [{"core": core, "line": line, "state": state} for (core, line), state in step.was.items()]
    plain["changes"] = [
        {"core": core, "line": line} | ({"where": ""} if spot is None else vars(spot))
        for (core, line), spot in step.changes.items()
    ]
    plain["copies"] = [{"core": core} | vars(spot) for core, spot in sorted(step.copies.items())]
    plain["written"] = [{"line": line, "value": value} for line, value in step.written.items()]
    if now is not None:
        plain["caches"] = [{"core": core, "line": line} | vars(spot) for (core, line), spot in now.caches.items()]
        plain["memory"] = [{"line": line, "value": value} for line, value in now.memory.items()]
    return plain


assert set(_DOES) == set(EVENT)
