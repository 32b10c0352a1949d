# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab list`, `s80lab report` and `s80lab query`: names, reports and the database."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.strict import names
from s80lab.commands.measured import latest_runs
from s80lab.commands.output import AsJson, print_json, show_runs
from s80lab.commands.parts import Engine, Image, Scale, Server, parse_seeds
from s80lab.config.experiment import load_experiment
from s80lab.config.server import server_names
from s80lab.gem5.runs import shipped_runs
from s80lab.report.data import read_groups
from s80lab.report.headline import beside_table
from s80lab.report.record import groups_record, tables_record
from s80lab.report.write import print_beside, two_estimates
from s80lab.results.database import list_runs
from s80lab.results.query import query, render, select
from s80lab.trace.files import write

KINDS = {
    "machines": paths.MACHINES,
    "protocols": paths.PROTOCOLS,
    "experiments": paths.EXPERIMENTS,
    "scales": paths.SCALES,
}


def list_command(as_json: AsJson = False) -> None:
    """List machines, protocols, experiments, scales and servers, and the runs in the database."""
    runs = [
        run | {"folder_is_there": (paths.results() / run["folder"]).is_dir()} for run in list_runs(paths.database())
    ]
    known = {kind: names(folder) for kind, folder in KINDS.items()} | {"servers": server_names()}
    if as_json:
        print_json(known | {"runs": runs})
        return
    for kind, found in known.items():
        print(f"{kind}: {', '.join(found)}")
    if paths.database().is_file():
        print("runs:")
    for run in runs:
        print(f"  {run['id']} ({_status(run)}, {run['created']})")


def _status(run: dict[str, Any]) -> str:
    if not run["folder_is_there"]:
        return "its folder is missing"
    return f"invalid: {run['reasons']}" if run["reasons"] else str(run["status"])


def report_command(
    experiments: Annotated[
        list[str], typer.Argument(help="Names of experiments (files in configs/experiments, without .toml).")
    ],
    server: Server = None,
    image: Image = None,
    scale: Scale = None,
    seeds: Annotated[
        str | None,
        typer.Option(help="Seeds whose runs are used, separated by commas. Default: every seed that has a run."),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            help="Further seeds, separated by commas, for a second estimate. The command then checks whether the "
            "confidence intervals of the seeds in --seeds contain the means of these further seeds."
        ),
    ] = None,
    engine: Engine = "qemu",
    machine: Annotated[
        str | None,
        typer.Option(help="With --engine gem5: the machine whose runs are used, a name in configs/machines."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print tables of existing runs (the latest run of each seed), and write a report page with all of them."""
    if machine is not None and engine != "gem5":
        raise UserError("--machine selects among runs of gem5 only: add --engine gem5, or omit --machine")
    if engine == "gem5":
        show_runs([folder for name in experiments for folder in shipped_runs(name, machine)], as_json)
        return
    chosen = parse_seeds(seeds)
    if beside is None:
        show_runs(latest_runs(experiments, scale, chosen, server, image), as_json)
        return
    others = parse_seeds(beside, "--beside")
    pairs = [
        (
            latest_runs([name], scale, chosen or load_experiment(name, {}).seeds, server, image),
            latest_runs([name], scale, others, server, image),
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
    sql: Annotated[
        str, typer.Argument(help="An SQL query (read-only) over the tables and views in results/schema.sql.")
    ],
    output: Annotated[
        Literal["table", "csv", "json", "parquet"], typer.Option("--format", help="Output format of the rows.")
    ] = "table",
    out: Annotated[Path | None, typer.Option(help="File to which the rows are written. Default: stdout.")] = None,
    as_json: AsJson = False,
) -> None:
    """Query the results database of the lab with SQL."""
    form = "json" if as_json else output
    if out is None:
        if form == "parquet":
            raise UserError("--format parquet is a binary format: name the file to write with --out")
        query(paths.database(), sql, form)
        return
    columns, rows = select(paths.database(), sql)
    write(out, render(columns, rows, form))
    print(f"{len(rows)} rows: {out}", file=sys.stderr)
