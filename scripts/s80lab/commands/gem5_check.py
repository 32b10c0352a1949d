# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab gem5 check`: certifies or refuses the MOESI_hammer of a gem5 binary."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

from s80lab.base.terminal import counted, plain_text
from s80lab.commands.line.compare import Gem5CheckArguments
from s80lab.commands.output import print_json, sayer, wide_console
from s80lab.gem5.binary import find_gem5
from s80lab.gem5.check import traces
from s80lab.gem5.check.run import check, sentence
from s80lab.gem5.check.verdict import Verdict, folder


def print_differences(verdict: Verdict, console: Console) -> None:
    """A table of the categories that gem5 and the model count differently."""
    table = Table("category", "trace", "gem5", "model", "difference", title="Categories that differ")
    for column in table.columns[2:]:
        column.justify = "right"
    for one in verdict.differences:
        difference = one.model - one.ruby
        names = plain_text(one.category), plain_text(one.trace)
        table.add_row(*names, f"{one.ruby:,}", f"{one.model:,}", f"{difference:+,}")
    console.print(table)


def print_transitions(verdict: Verdict, console: Console) -> None:
    """A table of the transitions that the traces reached, by controller and state, with the numbers that exist."""
    table = Table("controller", "state", "reached", "existing", "events reached", title="Transitions of MOESI_hammer")
    for column in table.columns[2:4]:
        column.justify = "right"
    existing = traces.existing_transitions()
    for controller in sorted(existing | verdict.reached):
        all_of, reached = _by_state(existing.get(controller, [])), _by_state(verdict.reached.get(controller, []))
        for state in sorted(reached):
            events = reached[state]
            counts = str(len(events)), str(len(all_of.get(state, [])))
            table.add_row(plain_text(controller), plain_text(state), *counts, plain_text(", ".join(events)))
    console.print(table)


def coverage_sentence(verdict: Verdict) -> str:
    """How many of the existing transitions the traces reached, and what the others need."""
    existing = traces.existing_transitions()
    reached = [len(set(verdict.reached.get(controller, [])) & set(names)) for controller, names in existing.items()]
    by_controller = [
        f"{controller} {count} of {len(names)}"
        for (controller, names), count in zip(existing.items(), reached, strict=True)
    ]
    unknown = sum(len(set(names) - set(existing.get(controller, []))) for controller, names in verdict.reached.items())
    more = f"; {counted(unknown, 'transition')} reached that gem5 24.0.0.1 does not have" if unknown else ""
    return (
        f"transitions reached: {sum(reached)} of {sum(map(len, existing.values()))} "
        f"({', '.join(by_controller)}){more}; "
        "the others need accesses that overlap, DMA, flushes or a probe filter, and are not checked"
    )


def _by_state(transitions: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for transition in transitions:
        state, _, event = transition.partition(".")
        found.setdefault(state, []).append(event)
    return found


def check_command(args: Gem5CheckArguments) -> None:
    """Play short traces on the user's gem5 and compare its counts with the model's. Exit code 1: refused."""
    say = sayer(args.as_json)
    binary = find_gem5(args.gem5)
    verdict = check(binary, again=args.again)
    if args.as_json:
        print_json(verdict.record(binary))
    else:
        console = wide_console()
        if verdict.reached:
            print_transitions(verdict, console)
        if verdict.differences:
            print_differences(verdict, console)
    say(f"{binary}: gem5 {verdict.about.version}, adapter for releases since {verdict.about.release}")
    if verdict.reached:
        say(coverage_sentence(verdict))
    if verdict.unchecked:
        say(f"other protocols of this gem5, not checked: {', '.join(verdict.unchecked)}")
    say(f"{sentence(verdict)} ({verdict.seconds:.0f} s)")
    say(f"files: {folder(verdict.binary)}")
    if not verdict.certified:
        raise typer.Exit(1)
