# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab reference`: runs become a reference result, unless one of them is no result."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import staging
from s80lab.commands.claims import write_page
from s80lab.commands.measured import latest_runs
from s80lab.commands.parts import Scale, parse_seeds
from s80lab.report.data import Run, read_run
from s80lab.report.write import write_experiment_report

REFERENCE = paths.own(paths.REFERENCE)
# Of a run's folder: what the tables and pictures are made from.
KEPT = ("manifest.json", "stats.json", "transactions.json")


def reference_command(
    name: Annotated[str, typer.Argument(help="A folder of results/reference, for example small.")],
    experiments: Annotated[list[str], typer.Argument(help="Names of files in configs/experiments.")],
    scale: Scale = None,
    seeds: Annotated[str | None, typer.Option(help="Of these seeds alone, separated by commas.")] = None,
) -> None:
    """Puts the latest run of each seed into results/reference with a report over them, in place of what was there, and
    writes docs/background/claims.md anew."""
    print(f"reference: {keep_reference(name, latest_runs(experiments, scale, parse_seeds(seeds)))}")
    print(f"page: {write_page()}")


def keep_page(page: Path, name: str, runs: Sequence[Run]) -> Path:
    """A page over these runs, with its pictures, as results/reference/paper/`name`; the folder. UserError as below."""
    _require_results(runs)
    return _put(page.parent, REFERENCE / "paper" / name)


def keep_reference(name: str, folders: list[Path]) -> Path:
    """See above; the folder. UserError names the first run that is no result, and what was there stays."""
    if Path(name).name != name or name.startswith("."):
        raise UserError(f"{name} is no name of a folder in results/reference")
    _require_results(list(map(read_run, folders)))
    made = paths.results() / "reports" / f"reference-{name}"
    with staging(made) as partial:
        for folder in folders:
            kept = partial / "runs" / folder.name
            kept.mkdir(parents=True)
            for file in KEPT:
                shutil.copyfile(folder / file, kept / file)
        write_experiment_report(name, folders, partial)
    return _put(made, REFERENCE / name)


def _require_results(runs: Sequence[Run]) -> None:
    for run in runs:
        if run.reasons:
            raise UserError(
                f"{run.manifest['run']} is not a result ({'; '.join(run.reasons)}), so no reference can rest on it"
            )


def _put(made: Path, target: Path) -> Path:
    """In place of what was there."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(made, target)
    return target
