# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab report` and `s80lab query`: reports over existing runs, and the database."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from s80lab.analysis.groups import read_groups, read_runs
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.terminal import counted, say
from s80lab.commands.changes import Changes
from s80lab.commands.line.measure import QueryArguments, ReportArguments
from s80lab.commands.measured import latest_runs
from s80lab.commands.numbers import parse_seeds
from s80lab.commands.output import print_json
from s80lab.commands.program_plans import refuse, saved_files
from s80lab.commands.programs import report_files
from s80lab.commands.run_tables import check_tables, show_runs
from s80lab.config.experiment import load_experiment
from s80lab.gem5.runs import shipped_runs
from s80lab.report.headline import beside_table
from s80lab.report.record import groups_record, tables_record
from s80lab.report.write import print_beside, two_estimates
from s80lab.results.database import list_tables
from s80lab.results.query import query, render, select
from s80lab.trace.files import write


def report_command(args: ReportArguments) -> None:
    """Print a summary of existing runs (the latest run of each seed), and write a report page with all of them."""
    check_tables(args.everything, args.section)
    changes = Changes(args.machine, args.protocol, args.server, args.image, tuple(args.settings or ()))
    if args.engine == "gem5":
        unusable = " ".join(replace(changes, machine=None).words())
        if unusable:
            raise UserError(f"{unusable} cannot be combined with --engine gem5; of gem5's runs only --machine selects")
        found = [folder for name in args.experiments for folder in shipped_runs(name, args.machine)]
        show_runs(read_runs(found), args.as_json, args.everything, args.section)
        return
    chosen = parse_seeds(args.seeds)
    if files := saved_files(args.experiments):
        refuse({"--scale": args.scale, "--beside": args.beside, "--all": args.everything, "--section": args.section})
        report_files(files, changes, chosen, [], args.as_json)
        return
    if args.beside is None:
        show_runs(
            read_runs(latest_runs(args.experiments, args.scale, chosen, changes)),
            args.as_json,
            args.everything,
            args.section,
        )
        return
    others = parse_seeds(args.beside, "--beside")
    pairs = [
        (
            latest_runs([name], args.scale, chosen or load_experiment(name, {}).seeds, changes),
            latest_runs([name], args.scale, others, changes),
        )
        for name in args.experiments
    ]
    if args.as_json:
        print_json([_beside_record(*pair) for pair in pairs])
    for pair in () if args.as_json else pairs:
        print_beside(*pair, Console())


def _beside_record(first: Sequence[Path], second: Sequence[Path]) -> dict[str, Any]:
    table = beside_table(*two_estimates(first, second))
    return {"groups": [*groups_record(read_groups(first)), *groups_record(read_groups(second))]} | {
        "held": tables_record([table])
    }


def query_command(args: QueryArguments) -> None:
    """Query the results database of the lab with SQL, or list its tables and views."""
    if args.tables == (args.sql is not None):
        wrong = "--tables lists tables and views and takes no SQL: omit one of the two"
        raise UserError(wrong if args.tables else "write an SQL query, or list the tables and views with --tables")
    if args.sql is None:
        _list_tables(args.as_json)
        return
    form = "json" if args.as_json else args.output
    if args.out is None:
        if form == "parquet":
            raise UserError("--format parquet is a binary format: name the file to write with --out")
        query(paths.database(), args.sql, form)
        return
    columns, rows, remark, types = select(paths.database(), args.sql, typed=form == "parquet")
    if remark:
        say(f"warning: {remark}")
    write(args.out, render(columns, rows, form, types))
    say(f"{counted(len(rows), 'row')}: {args.out}")


def _list_tables(as_json: bool) -> None:
    found = list_tables()
    if as_json:
        print_json([asdict(one) for one in found])
        return
    width = max(len(one.name) for one in found) + 2
    for one in found:
        say(f"{one.name:<{width}}{one.text}", sys.stdout, indent=width)
    say("docs/reference/database.md describes the columns.", sys.stdout)
