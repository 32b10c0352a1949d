# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab reference`: keep valid runs as a reference result."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from s80lab.analysis.groups import Run, read_run
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.staging import staging
from s80lab.base.terminal import plain
from s80lab.commands.claims import write_page
from s80lab.commands.measured import latest_runs
from s80lab.commands.parts import parse_seeds
from s80lab.config.experiment import load_experiment
from s80lab.config.grid import Grid
from s80lab.report.write import write_experiment_report
from s80lab.results.run_folder import MANIFEST, STATS, TRANSACTIONS, RunFolder

REFERENCE = paths.own(paths.REFERENCE)
# Of a run's folder: what the tables and pictures are made from.
KEPT = (MANIFEST, STATS, TRANSACTIONS)


def reference_command(name: str, experiments: list[str], scale: str | None, seeds: str | None) -> None:
    """Replace a reference result by the latest run of each seed, and regenerate docs/background/claims.md.

    The runs and a report over them are copied to results/reference. All runs must be valid.
    """
    folder, others = keep_reference(name, latest_runs(experiments, scale, parse_seeds(seeds)))
    print(plain(f"reference: {folder}"))
    if others:
        print(
            f"kept: {', '.join(others)}: this command does not write these files; check that they fit the new runs, "
            "then run `make pages`"
        )
    print(plain(f"page: {write_page()}"))


def keep_page(page: Path, name: str, runs: Sequence[Run]) -> Path:
    """Copy a page over these runs, with its pictures, to results/reference/paper/`name`; return that folder.

    Other files of the folder are kept.

    UserError names the first invalid run.
    """
    _require_results(runs)
    target = REFERENCE / "paper" / name
    _put(page.parent, target)
    return target


def keep_reference(name: str, folders: list[Path]) -> tuple[Path, list[str]]:
    """Copy the runs, with a report over them, to results/reference/`name`. Return that folder, and the names of the
    other files that the folder holds: they are kept, because no command can make them from the runs alone.

    UserError names the first invalid run; then an existing folder is kept.
    """
    if Path(name).name != name or name.startswith("."):
        raise UserError(f"{name} cannot name a folder in results/reference: write a plain name, for example small")
    _require_results(list(map(read_run, folders)))
    made = paths.results() / "reports" / f"reference-{name}"
    with staging(made) as partial:
        for folder in folders:
            kept = partial / "runs" / folder.name
            kept.mkdir(parents=True)
            for file in KEPT:
                shutil.copyfile(folder / file, kept / file)
            _list_kept(RunFolder(kept))
        write_experiment_report(name, folders, partial)
    return REFERENCE / name, _put(made, REFERENCE / name)


def _list_kept(run: RunFolder) -> None:
    """Leave only the files that were copied in the manifest's list of products, against which readers check the run."""
    listed = run.manifest.get("files", {})
    run.write_manifest(run.manifest | {"files": {name: listed[name] for name in listed if name in KEPT}})


def kept_runs(name: str) -> list[Path]:
    """The runs of the reference result `name`, ordered by experiment, point of its sweep, boot and seed."""
    return sorted((path.parent for path in (REFERENCE / name / "runs").glob("*/manifest.json")), key=_place)


def _place(folder: Path) -> tuple[str, int, int, int, str]:
    manifest = RunFolder(folder).manifest
    points = Grid.of_sweep(load_experiment(manifest["experiment"], {}).sweep).points()
    point = manifest.get("varied", {})
    # A point that has since left the sweep goes to the end.
    place = points.index(point) if point in points else len(points)
    return manifest["experiment"], place, manifest.get("boot", 1), manifest["seed"], folder.name


def _require_results(runs: Sequence[Run]) -> None:
    for run in runs:
        if run.reasons:
            raise UserError(
                f"run {run.manifest['run']} is invalid ({'; '.join(run.reasons)}), so it cannot be a reference result"
            )


def _put(made: Path, target: Path) -> list[str]:
    """Copy a folder to the target. What the target has of the same names is replaced; return the other names, which are
    kept."""
    with staging(target) as partial:
        shutil.copytree(made, partial, dirs_exist_ok=True)
        others = [path for path in sorted(target.glob("*")) if not (partial / path.name).exists()]
        for path in others:
            if path.is_dir():
                shutil.copytree(path, partial / path.name)
            else:
                shutil.copy2(path, partial / path.name)
    return [path.name for path in others]
