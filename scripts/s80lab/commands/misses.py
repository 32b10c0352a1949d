# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab misses RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.output import AsJson, print_json, wide_console
from s80lab.report.misses.run import BY_MISSES, BY_STALLS, PAGE, write_misses
from s80lab.report.record import tables_record
from s80lab.report.terminal import print_table


def misses_command(
    run: Annotated[str, typer.Argument(help="A run's name or folder; it must have been made with --misses.")],
    as_json: AsJson = False,
) -> None:
    """Every L2 miss of a run with a name: function, what the line was, who supplied it, and how it was shared."""
    folder = Path(run) if Path(run).is_dir() else paths.runs() / run
    if not folder.is_dir():
        raise UserError(f"there is no run {run} in {paths.runs()}")
    tables = write_misses(folder)
    if as_json:
        print_json(tables_record(tables))
        return
    console = wide_console()
    for table in tables:
        print_table(table, console)
    print(f"page: {folder / PAGE}\nstacks: {folder / BY_MISSES}, {folder / BY_STALLS} (speedscope.app, flame graphs)")
