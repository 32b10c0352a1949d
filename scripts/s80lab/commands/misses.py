# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab misses RUN` and `s80lab profile RUN`: what a run has logged, by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.output import AsJson, print_json, sayer, wide_console
from s80lab.report import profile
from s80lab.report.misses.run import BY_MISSES, BY_STALLS, PAGE, write_misses
from s80lab.report.profile import write_profile
from s80lab.report.record import tables_record
from s80lab.report.tables import Table
from s80lab.report.terminal import print_table


def misses_command(
    run: Annotated[str, typer.Argument(help="A run's name or folder; it must have been made with --misses.")],
    as_json: AsJson = False,
) -> None:
    """Every L2 miss of a run with a name: function, what the line was, who supplied it, and how it was shared."""
    folder = _folder(run)
    _show(write_misses(folder), as_json)
    say = sayer(as_json)
    say(f"page: {folder / PAGE}\nstacks: {folder / BY_MISSES}, {folder / BY_STALLS} (speedscope.app, flame graphs)")


def profile_command(
    run: Annotated[str, typer.Argument(help="A run's name or folder; it must have been made with --profile.")],
    as_json: AsJson = False,
) -> None:
    """Which functions of which processes the instructions of a run were in."""
    folder = _folder(run)
    _show(write_profile(folder), as_json)
    sayer(as_json)(f"page: {folder / profile.PAGE}\nstacks: {folder / profile.STACKS} (speedscope.app, flame graphs)")


def _folder(run: str) -> Path:
    folder = Path(run) if Path(run).is_dir() else paths.runs() / run
    if not folder.is_dir():
        raise UserError(f"there is no run {run} in {paths.runs()}")
    return folder


def _show(tables: Sequence[Table], as_json: bool) -> None:
    if as_json:
        print_json(tables_record(tables))
        return
    console = wide_console()
    for table in tables:
        print_table(table, console)
