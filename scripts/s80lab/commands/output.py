# SPDX-License-Identifier: GPL-2.0-or-later
"""What commands print on stdout: tables for people, or with --json one JSON value and nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from s80lab.base import paths
from s80lab.report.data import read_groups
from s80lab.report.record import groups_record
from s80lab.report.write import print_experiment, write_experiment_report

# Characters a line where the output is no terminal.
WIDE = 160

AsJson = Annotated[bool, typer.Option("--json", help="As JSON: one value on stdout, and nothing else.")]


def print_json(value: Any) -> None:
    """`value` must be of JSON's own types, without infinities."""
    print(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def wide_console() -> Console:
    """For tables of many columns."""
    return Console(width=None if sys.stdout.isatty() else WIDE)


def sayer(as_json: bool) -> Callable[[str], None]:
    """Prints a sentence that belongs to no table: beside JSON on stderr."""
    return lambda text: print(text, file=sys.stderr if as_json else sys.stdout)


def show_runs(folders: Sequence[Path], as_json: bool) -> None:
    """The tables of the runs and a report over all of them."""
    if not as_json:
        print_experiment(folders, Console())
    name = "-".join(dict.fromkeys(folder.name.rsplit("-s", 1)[0] for folder in folders))
    page = write_experiment_report(name, folders, paths.results() / "reports" / name)
    if as_json:
        print_json({"groups": groups_record(read_groups(folders)), "report": str(page)})
    else:
        print(f"report: {page}")
