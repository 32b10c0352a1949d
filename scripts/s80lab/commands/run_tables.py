# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and reports over the runs that a command made or found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from s80lab.analysis.groups import Group, Run, group_runs
from s80lab.analysis.sweep import sweep_groups, swept
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.terminal import counted, plain, plain_text, say
from s80lab.commands.output import print_json, wide_console
from s80lab.config.experiment import load_experiment
from s80lab.report.record import groups_record
from s80lab.report.sweep import sweep_name, sweep_table, write_sweep
from s80lab.report.terminal import find_section, first_rows, print_groups, print_section, print_summary, print_table
from s80lab.report.validity import verdicts_with_reasons
from s80lab.report.write import report_name, write_groups
from s80lab.results.metrics.standing import VALID, standing_of

MOST_LINES = 22
"""Lines of a sweep's table on the terminal, without --all. The notes and the path of the page follow."""
INVALID = 3
"""Exit code of a command whose runs are complete, but not all of them valid."""


def end_invalid(runs: Sequence[Run]) -> None:
    """End the command with one sentence and the exit code INVALID if any of its runs is invalid."""
    bad = sum(standing_of(run.stats)[0] != VALID for run in runs)
    if bad:
        say(f"s80lab: {bad} of {counted(len(runs), 'run')} invalid (exit code {INVALID}); the report states why")
        raise typer.Exit(INVALID)


def check_tables(everything: bool, section: str | None) -> None:
    """UserError if the options exclude each other, or if the report has no such section."""
    if everything and section:
        raise UserError("--all and --section exclude each other: --all prints every section")
    if section:
        find_section(section)


def show_tables(groups: Sequence[Group], everything: bool, section: str | None) -> None:
    """Print a summary of the groups, or all tables of their report, or one of its sections."""
    if section:
        print_section(groups, section, Console())
    elif everything:
        print_groups(groups, Console())
    else:
        print_summary(groups, Console())


def show_runs(runs: Sequence[Run], as_json: bool, everything: bool = False, section: str | None = None) -> None:
    """Print a summary of the runs and write a report over all of them. A sweep has one row per point. everything: print
    all tables; section: print one section of the report."""
    sweeps: dict[str, list[Run]] = {}
    for run in runs:
        if swept(run.manifest):
            sweeps.setdefault(run.manifest["experiment"], []).append(run)
    alone = [run for run in runs if not swept(run.manifest)]
    groups = group_runs(alone) if alone else []
    if as_json:
        pages = [*([_report(groups)] if groups else []), *(_sweep(*one, None) for one in sweeps.items())]
        print_json({"groups": groups_record(group_runs(runs)), "reports": list(map(str, pages))})
        return
    if groups:
        show_tables(groups, everything, section)
        print(plain(f"report: {_report(groups)}"))
    for one in sweeps.items():
        print(plain(f"report: {_sweep(*one, wide_console(), everything)}"))


def _report(groups: Sequence[Group]) -> Path:
    name = report_name(groups)
    return write_groups(name, groups, paths.results() / "reports" / name, paths.database())


def _sweep(name: str, runs: Sequence[Run], console: Console | None, everything: bool = True) -> Path:
    """Write the page of a sweep's runs; print their verdicts and their table on the console, if there is one.

    everything: print all rows, not only as many as fit into MOST_LINES.
    """
    groups, metrics = sweep_groups(runs), load_experiment(name, {}).show
    if console is not None:
        for head, why in verdicts_with_reasons(groups):
            console.print(plain_text(head, "bold yellow"), plain_text(why))
        table = sweep_table(name, groups, metrics)
        print_table(table if everything else first_rows(table, console.width, MOST_LINES), console)
    return write_sweep(name, groups, metrics, paths.results() / "reports" / sweep_name(groups))
