# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab report` and `s80lab query`: reports over existing runs, and the database."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from s80lab.analysis.groups import read_groups, read_runs
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.terminal import counted, say
from s80lab.commands.changes import Changes
from s80lab.commands.measured import latest_runs
from s80lab.commands.output import print_json
from s80lab.commands.parts import parse_seeds
from s80lab.commands.programs import refuse, report_files, saved_files
from s80lab.commands.run_tables import check_tables, show_runs
from s80lab.config.experiment import load_experiment
from s80lab.gem5.runs import shipped_runs
from s80lab.report.headline import beside_table
from s80lab.report.record import groups_record, tables_record
from s80lab.report.write import print_beside, two_estimates
from s80lab.results.query import declared_types, pooling_remark, query, render, select
from s80lab.results.schema import list_tables
from s80lab.trace.files import write


def report_command(
    experiments: list[str],
    server: str | None,
    image: str | None,
    scale: str | None,
    seeds: str | None,
    beside: str | None,
    engine: Literal["qemu", "gem5"],
    machine: str | None,
    protocol: str | None,
    settings: list[str] | None,
    everything: bool,
    section: str | None,
    as_json: bool,
) -> None:
    """Print a summary of existing runs (the latest run of each seed), and write a report page with all of them."""
    check_tables(everything, section)
    changes = Changes(machine, protocol, server, image, tuple(settings or ()))
    if engine == "gem5":
        unusable = " ".join(replace(changes, machine=None).words())
        if unusable:
            raise UserError(f"{unusable} cannot be combined with --engine gem5; of gem5's runs only --machine selects")
        found = [folder for name in experiments for folder in shipped_runs(name, machine)]
        show_runs(read_runs(found), as_json, everything, section)
        return
    chosen = parse_seeds(seeds)
    if files := saved_files(experiments):
        refuse({"--scale": scale, "--beside": beside, "--all": everything, "--section": section})
        report_files(files, changes, chosen, [], as_json)
        return
    if beside is None:
        show_runs(read_runs(latest_runs(experiments, scale, chosen, changes)), as_json, everything, section)
        return
    others = parse_seeds(beside, "--beside")
    pairs = [
        (
            latest_runs([name], scale, chosen or load_experiment(name, {}).seeds, changes),
            latest_runs([name], scale, others, changes),
        )
        for name in experiments
    ]
    if as_json:
        print_json([_beside_record(*pair) for pair in pairs])
    for pair in () if as_json else pairs:
        print_beside(*pair, Console())


def _beside_record(first: Sequence[Path], second: Sequence[Path]) -> dict[str, Any]:
    table = beside_table(*two_estimates(first, second))
    return {"groups": [*groups_record(read_groups(first)), *groups_record(read_groups(second))]} | {
        "held": tables_record([table])
    }


def query_command(
    sql: str | None,
    output: Literal["table", "csv", "json", "parquet"],
    out: Path | None,
    tables: bool,
    as_json: bool,
) -> None:
    """Query the results database of the lab with SQL, or list its tables and views."""
    if tables == (sql is not None):
        wrong = "--tables lists tables and views and takes no SQL: omit one of the two"
        raise UserError(wrong if tables else "write an SQL query, or list the tables and views with --tables")
    if sql is None:
        _list_tables(as_json)
        return
    form = "json" if as_json else output
    if out is None:
        if form == "parquet":
            raise UserError("--format parquet is a binary format: name the file to write with --out")
        query(paths.database(), sql, form)
        return
    columns, rows = select(paths.database(), sql)
    if remark := pooling_remark(paths.database(), sql):
        say(f"warning: {remark}")
    types = declared_types(paths.database(), sql) if form == "parquet" else None
    write(out, render(columns, rows, form, types))
    say(f"{counted(len(rows), 'row')}: {out}")


def _list_tables(as_json: bool) -> None:
    found = list_tables()
    if as_json:
        print_json([asdict(one) for one in found])
        return
    width = max(len(one.name) for one in found) + 2
    for one in found:
        say(f"{one.name:<{width}}{one.text}", sys.stdout, indent=width)
    say("docs/reference/database.md describes the columns.", sys.stdout)
