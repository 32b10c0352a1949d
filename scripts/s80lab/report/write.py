# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes and prints reports of runs and experiments.

A run folder must hold manifest.json, stats.json and transactions.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from s80lab.analysis.groups import Group, Run, group_runs, read_groups, read_run
from s80lab.base.errors import UserError
from s80lab.base.hashing import value_hash
from s80lab.base.records import is_unchanged
from s80lab.base.terminal import plain_text
from s80lab.config.differences import slug
from s80lab.report.figures.all import draw_all
from s80lab.report.figures.machine import machine_pictures
from s80lab.report.figures.miss_ratio import miss_ratio_pictures
from s80lab.report.figures.supply import supply_pictures
from s80lab.report.headline import beside_table
from s80lab.report.page import page, write_files
from s80lab.report.terminal import print_table
from s80lab.report.validity import verdicts
from s80lab.results.run_folder import PROFILE_PAGE, REPORT, RunFolder

_LONGEST_NAME = 150


def write_run_report(run: Run) -> Path:
    """Writes report.html and figures/*.svg into the folder of a complete run; returns the path of report.html."""
    return write_groups(f"{run.manifest['experiment']}, seed {run.seed}", group_runs([run]), run.folder)


def write_pages(run: RunFolder) -> Run:
    """Writes every page of a run that is missing: attributed misses, profile and report.html; returns the run. The
    report shows the tables of the attributed misses, so these are written first."""
    # Only here, because what names functions is slow to import, and few runs have such logs.
    if run.has_misses() and not _has_tables(run):
        from s80lab.report.misses.page import write_misses

        write_misses(run.path)
        run = RunFolder(run.path)  # with the new tables
    if run.has_profile() and not (run / PROFILE_PAGE).is_file():
        from s80lab.report.profile import write_profile

        write_profile(run.path)
    content = read_run(run)
    if not (run / REPORT).is_file():
        write_run_report(content)
    return content


def _has_tables(run: RunFolder) -> bool:
    """Whether the files that `s80lab misses` writes exist and are the written ones. Of a run without hashes, only the
    tables are looked at."""
    try:
        tables, derived = run.misses, run.derived()
    except UserError:
        return False
    if "logs" not in run.manifest:
        return bool(tables)
    return bool(derived) and all(is_unchanged(run / name, record) for name, record in derived.items())


def write_experiment_report(experiment: str, run_dirs: Sequence[Path], out_dir: Path) -> Path:
    """Writes one report over the seeds (and mixes) of several runs; returns out_dir/report.html. `experiment` is the
    page's title."""
    return write_groups(experiment, read_groups(run_dirs), out_dir)


def print_beside(first: Sequence[Path], second: Sequence[Path], console: Console) -> None:
    """Compares two estimates of one design from different seeds: does each interval of the first contain the mean of
    the second? UserError unless all runs are of one design."""
    one, two = two_estimates(first, second)
    for head, why in verdicts([one, two]):
        console.print(plain_text(head, "bold yellow"), plain_text(why))
    print_table(beside_table(one, two), console)


def two_estimates(first: Sequence[Path], second: Sequence[Path]) -> tuple[Group, Group]:
    """The two groups that `print_beside` compares; raises the same errors."""
    groups = read_groups([*first, *second])
    if len(groups) != 1:
        raise UserError(
            f"the runs are of different designs ({', '.join(group.label for group in groups)}); compare runs "
            "that differ only in the seed"
        )
    (one,), (two,) = read_groups(first), read_groups(second)
    return one, two


def report_name(groups: Sequence[Group]) -> str:
    """The name of the report's folder: experiments, scales, and what differs from the experiments' files. Reports of
    different designs have different names."""
    found = {}
    for group in groups:
        manifest = group.runs[0].manifest
        found[f"{manifest['experiment']}-{manifest['scale']}{slug(group.differences)}"] = dict(group.differences)
    name = "-".join(found)
    if len(name) <= _LONGEST_NAME and not any(changed.keys() - {"scale"} for changed in found.values()):
        return name
    # Words of names may be ambiguous, and a name must not exceed what a file system allows.
    return f"{name[:_LONGEST_NAME]}-{value_hash(list(found.values()))[:6]}"


def write_groups(title: str, groups: Sequence[Group], out_dir: Path, database: Path | None = None) -> Path:
    """`write_experiment_report` for runs that have been read. database: if it has replays of the same workload with
    other sizes of the L2, the page shows the miss-ratio curve."""
    pictures = [
        *draw_all(groups),
        *machine_pictures(groups),
        *supply_pictures(groups),
        *miss_ratio_pictures(groups, database),
    ]
    return write_files(out_dir, page(title, groups, pictures), pictures)
