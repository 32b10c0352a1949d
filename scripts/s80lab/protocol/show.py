# SPDX-License-Identifier: GPL-2.0-or-later
"""Terminal output of `s80lab protocol list | show | check`."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from s80lab.base.errors import UserError
from s80lab.base.strict import shown
from s80lab.base.terminal import plain_text
from s80lab.protocol.counterexample import Counterexample
from s80lab.protocol.proof import Proof, Verdict
from s80lab.protocol.table import Protocol
from s80lab.protocol.text import permissions, roles, state_table, superscript

STYLES = {"M": "red", "O": "yellow", "E": "blue", "S": "green", None: "dim"}


def print_list(protocols: Iterable[tuple[str, Protocol | UserError, Proof | None]], console: Console) -> None:
    """Prints one row per protocol."""
    table = _table("name", "states", "L2", "proof", "description")
    for column in table.columns[:-1]:
        column.no_wrap = True
    for name, protocol, proof in protocols:
        if isinstance(protocol, UserError):
            table.add_row(plain_text(name), "", "", "cannot be read", plain_text(str(protocol)))
        else:
            verdict = "proven" if proof else "not proven"
            states = plain_text(" ".join(protocol.states))
            cells = (states, protocol.l2_inclusion or "any", verdict, plain_text(protocol.description))
            table.add_row(plain_text(name), *cells)
    console.print(table)


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
    for number, reason in enumerate(content.reasons, start=1):
        console.print(plain_text(f"—{superscript(number)} impossible: {reason}", "dim"))


def print_verdict(verdict: Verdict, console: Console) -> None:
    """Prints one line for a proof, or the shortest counterexample."""
    name = shown(verdict.path)
    proof = verdict.proof
    if proof is not None:
        console.print(
            plain_text(
                f"{name}: proven for {proof.caches} caches "
                f"({proof.states} states, {proof.rules_fired} events, {proof.seconds:.1f} s)"
            ),
            soft_wrap=True,
        )
        for place in proof.unreached:
            console.print(
                plain_text(
                    f"  warning: no sequence of events reaches the cell {place}; if this is intended, mark the "
                    "cell as impossible"
                ),
                soft_wrap=True,
            )
        return
    assert verdict.counterexample is not None
    print_counterexample(name, verdict.counterexample, console)


def print_counterexample(name: str, found: Counterexample, console: Console) -> None:
    """Prints the violated invariant, the steps as a table, and a sentence that describes the violation."""
    console.print(plain_text(f"{name}: violates the invariant: {found.fault.law}", "bold red"))
    cores = [f"core {core}" for core in range(len(found.lines[0].caches))]
    table = _table("step", "event", *cores, "memory", "last write", title="Shortest counterexample")
    before: list[str] = []
    for number, line in enumerate(found.lines):
        caches = [
            plain_text(cell, "bold" if before and cell != before[core] else "") for core, cell in enumerate(line.caches)
        ]
        cells = (plain_text(line.event), *caches, plain_text(line.memory), plain_text(line.last_write))
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
