# SPDX-License-Identifier: GPL-2.0-or-later
"""Output of commands on stdout: tables for people, or one JSON value with --json."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from s80lab.base import paths
from s80lab.base.folder import read_manifest
from s80lab.config.experiment import load_experiment
from s80lab.report.data import read_groups
from s80lab.report.record import groups_record
from s80lab.report.sweep import sweep_groups, sweep_table, swept, write_sweep
from s80lab.report.tables import verdicts
from s80lab.report.terminal import print_table
from s80lab.report.write import print_experiment, write_experiment_report

# Characters a line where the output is no terminal.
WIDE = 160

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout and nothing else.")]


def print_json(value: Any) -> None:
    """Print a value as JSON. The value must consist of JSON's own types, without infinities."""
    print(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def wide_console() -> Console:
    """A console for tables of many columns."""
    return Console(width=None if sys.stdout.isatty() else WIDE)


def sayer(as_json: bool) -> Callable[[str], None]:
    """A function that prints a sentence outside the tables: on stdout, or on stderr with --json."""
    return lambda text: print(text, file=sys.stderr if as_json else sys.stdout)


def show_runs(folders: Sequence[Path], as_json: bool) -> None:
    """Print the tables of the runs and write a report over all of them. A sweep has one row per point."""
    sweeps: dict[str, list[Path]] = {}
    for folder in folders:
        manifest = read_manifest(folder)
        if swept(manifest):
            sweeps.setdefault(manifest["experiment"], []).append(folder)
    plain = [folder for folder in folders if not any(folder in of for of in sweeps.values())]
    if as_json:
        pages = [*([_report(plain)] if plain else []), *(_sweep(*one, None) for one in sweeps.items())]
        print_json({"groups": groups_record(read_groups(folders)), "reports": list(map(str, pages))})
        return
    if plain:
        print_experiment(plain, Console())
        print(f"report: {_report(plain)}")
    for one in sweeps.items():
        print(f"report: {_sweep(*one, wide_console())}")


def _report(folders: Sequence[Path]) -> Path:
    name = "-".join(dict.fromkeys(folder.name.rsplit("-s", 1)[0] for folder in folders))
    return write_experiment_report(name, folders, paths.results() / "reports" / name)


def _sweep(name: str, folders: Sequence[Path], console: Console | None) -> Path:
    """Write the page of a sweep's runs; print their verdicts and their table on the console, if there is one."""
    groups, metrics = sweep_groups(folders), load_experiment(name, {}).show
    if console is not None:
        for head, why in verdicts(groups):
            console.print(Text(head, style="bold yellow"), Text(why))
        print_table(sweep_table(name, groups, metrics), console)
    return write_sweep(name, groups, metrics, paths.results() / "reports" / folders[0].name.rsplit("-s", 1)[0])
