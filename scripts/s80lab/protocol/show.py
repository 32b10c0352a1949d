# SPDX-License-Identifier: GPL-2.0-or-later
"""A protocol's table as short texts, for the terminal and for the pages in build/protocols, and the output of
`s80lab protocol list | show | check`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import short_path
from s80lab.base.terminal import plain_text
from s80lab.protocol.counterexample import Counterexample
from s80lab.protocol.laws import HOME_LAWS, NAMES
from s80lab.protocol.proof import Proof, Verdict
from s80lab.protocol.table import (
    BUS,
    AccessCell,
    Cell,
    EndCell,
    EvictCell,
    HomeRows,
    Protocol,
    RecalledCell,
    RemoteCell,
)

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


def home_table(home: HomeRows) -> StateTable:
    """All cells of the home, with events as columns. A cell that its event cannot meet is empty."""
    reasons: list[str] = []
    columns = list(home.rows())
    rows = []
    for state in home.states:
        rows.append((state, [_home_cell(cells[state], reasons) if state in cells else "" for _, cells in columns]))
    return StateTable([name.removeprefix("home.").replace(".", " ") for name, _ in columns], rows, reasons)


def home_facts(home: HomeRows, state: str) -> tuple[str, str]:
    """What occupies the last-level cache or the directory in a home state, in words."""
    info = home.states[state]
    data = ("dirty" if info.dirty else "clean") if info.data else NOTHING
    return data, info.copies


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
    if event == "recall":
        return "is recalled"
    return event if side == "own" else f"snoops {event}"


def _impossible(reason: str, reasons: list[str]) -> str:
    if reason not in reasons:
        reasons.append(reason)
    return "—" + superscript(reasons.index(reason) + 1)


def _home_cell(cell: EndCell, reasons: list[str]) -> str:
    if cell.impossible is not None:
        return _impossible(cell.impossible, reasons)
    ends = [end if key == "next" else f"{end} ({key})" for key, end in cell.ends()]
    words = [", ".join(ends)]
    if getattr(cell, "supply", False):
        words.append("supplies first" if getattr(cell, "first", False) else "supplies")
    if given := getattr(cell, "gives", None):
        words.append(f"requester fills {given}")
    words += ["grants S only"] if getattr(cell, "grants", None) else []
    words += ["recalls"] if getattr(cell, "recall", False) else []
    words += ["writes back"] if getattr(cell, "writeback", False) else []
    return "; ".join(words)


def _cell(protocol: Protocol, cell: Cell, state: str, reasons: list[str]) -> str:
    if cell.impossible is not None:
        return _impossible(cell.impossible, reasons)
    if isinstance(cell, AccessCell):
        return _access(cell)
    assert isinstance(cell, EvictCell | RemoteCell | RecalledCell)
    words = [cell.next or ""]
    if isinstance(cell, RemoteCell):
        words += ["supplies"] if cell.supply else []
        words += [f"requester fills {cell.gives}"] if cell.gives else []
    words += ["writes back"] if cell.writeback else []
    if isinstance(cell, EvictCell):
        words += ["tells the home"] if cell.put and not cell.writeback else []
    return NOTHING if state == protocol.invalid and len(words) == 1 else ", ".join(words)


def _access(cell: AccessCell) -> str:
    request = f"{cell.bus} → " if cell.bus else ""
    return request + (cell.next or f"{cell.alone} (alone), {cell.shared} (shared)")


REQUESTS = (
    "read: bus request of a load or fetch that misses. rfo (read for ownership): bus request of a store that misses. "
    "upgrade: bus request of a store that finds a copy without write permission; it asks for no data. A core that may "
    "write holds the only copy, so rfo and upgrade invalidate the other copies."
)
"""What the table's bus requests mean."""
STYLES = {"M": "red", "O": "yellow", "E": "blue", "S": "green", None: "dim"}


def print_list(protocols: Iterable[tuple[str, Protocol | UserError, Proof | None]], console: Console) -> None:
    """Prints for each protocol a line with name, states, L2 and proof, and the description below this line."""
    rows, texts = [("name", "states", "L2", "proof")], [""]
    for name, protocol, proof in protocols:
        if isinstance(protocol, UserError):
            rows.append((name, "", "", "cannot be read"))
            texts.append(str(protocol))
        else:
            verdict = f"proven for {proof.caches} caches" if proof else "not proven"
            rows.append((name, " ".join(protocol.states), protocol.l2_inclusion or "any", verdict))
            texts.append(protocol.description)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        console.print(plain_text(line, "bold" if number else "dim"))
        if text:
            console.print(Padding(plain_text(text), (0, 0, 0, 4)))


def print_protocol(name: str, protocol: Protocol, proof: Proof | None, console: Console) -> None:
    """Prints the states, then the table with one row per state and one column per event."""
    console.print(plain_text(f"{protocol.name}: {protocol.description}", "bold"))
    if protocol.source:
        console.print(plain_text(f"source: {' '.join(protocol.source.split())}", "dim"))
    if protocol.l2_inclusion:
        console.print(f"the L2 that this protocol is made for is {protocol.l2_inclusion} of the L1s")
    states = _table("state", "meaning", "counted as", "silent accesses", "role")
    for one, state in protocol.states.items():
        cells = (state.description, state.counts_as or "", permissions(protocol, one), roles(protocol, one))
        states.add_row(_state(protocol, one), *map(plain_text, cells))
    console.print(states)
    print_cells(protocol, console)
    if proof is None:
        console.print(plain_text(f"not proven yet; prove it with: s80lab protocol check {name}"), soft_wrap=True)
    else:
        console.print(f"proven for {proof.caches} caches: all invariants hold in all {proof.states} reachable states")


def print_cells(protocol: Protocol, console: Console) -> None:
    """Prints the cells: reactions to events of the own core, and to snooped requests of other cores."""
    content = state_table(protocol)
    table = _table("state", *content.columns)
    for name, cells in content.rows:
        table.add_row(_state(protocol, name), *map(plain_text, cells))
    console.print(table)
    _print_reasons(content, console)
    console.print(plain_text(REQUESTS, "dim"))
    if protocol.home is not None:
        print_home(protocol.home, console)


def print_home(home: HomeRows, console: Console) -> None:
    """Prints the home's states, and its cells with one row per event."""
    console.print(plain_text(f"home ({home.inclusion})", "bold"))
    states = _table("state", "meaning", "last-level cache", "private copies")
    for name, info in home.states.items():
        states.add_row(*map(plain_text, (name, info.description, *home_facts(home, name))))
    console.print(states)
    content = home_table(home)
    table = _table("event", *(name for name, _ in content.rows))
    for number, column in enumerate(content.columns):
        table.add_row(*map(plain_text, (column, *(cells[number] for _, cells in content.rows))))
    console.print(table)
    _print_reasons(content, console)


def _print_reasons(content: StateTable, console: Console) -> None:
    for number, reason in enumerate(content.reasons, start=1):
        console.print(plain_text(f"—{superscript(number)} impossible: {reason}", "dim"))


def print_verdict(verdict: Verdict, console: Console) -> None:
    """Prints one line for a proof, or the shortest counterexample."""
    name = verdict.path.stem if verdict.path.parent == paths.own(paths.PROTOCOLS) else short_path(verdict.path)
    proof = verdict.proof
    if proof is not None:
        how = f"; stored proof of {verdict.stored}" if verdict.stored else f", {proof.seconds:.1f} s"
        console.print(
            plain_text(f"{name}: proven for {proof.caches} caches ({proof.states} states{how})"),
            soft_wrap=not console.is_terminal,
        )
        for place in proof.unreached:
            console.print(
                plain_text(
                    f"  warning: no sequence of events reaches the cell {place}; if this is intended, mark the "
                    "cell as impossible"
                ),
                soft_wrap=not console.is_terminal,
            )
        return
    assert verdict.counterexample is not None
    print_counterexample(name, verdict.counterexample, console)


def print_invariants(console: Console, homes: bool) -> None:
    """Prints what a proof proves: the names of all invariants. homes: one of the proven tables has a home."""
    laws = (law for law in NAMES if homes or law not in HOME_LAWS)
    text = plain_text(f"In every reachable state: {'; '.join(laws)}.", "dim")
    console.print(text, soft_wrap=not console.is_terminal)


def print_counterexample(name: str, found: Counterexample, console: Console) -> None:
    """Prints the violated invariant, the steps as a table, and a sentence that describes the violation."""
    console.print(plain_text(f"{name}: violates the invariant: {found.fault.law}", "bold red"))
    cores = [f"core {core}" for core in range(len(found.lines[0].caches))]
    home = ["home"] if found.lines[0].home is not None else []
    table = _table("step", "event", *cores, *home, "memory", "last write", title="Shortest counterexample")
    before: list[str] = []
    for number, line in enumerate(found.lines):
        caches = [
            plain_text(cell, "bold" if before and cell != before[core] else "") for core, cell in enumerate(line.caches)
        ]
        behind = [*([line.home] if line.home is not None else []), line.memory, line.last_write]
        cells = (plain_text(line.event), *caches, *map(plain_text, behind))
        table.add_row(str(number), *cells)
        before = line.caches
    console.print(table)
    console.print(plain_text(f"Violation: {found.fault.sentence}."), soft_wrap=True)


def _state(protocol: Protocol, name: str) -> Text:
    return plain_text(name, f"bold {STYLES[protocol.states[name].counts_as]}")


def _table(*columns: str, title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(plain_text(column), overflow="fold")
    return table
