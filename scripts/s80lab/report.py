# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of runs and experiments.

    write_run_report(run_dir: Path) -> Path
        Writes report.html and figures/*.svg into a whole run's folder; returns report.html.
    write_experiment_report(experiment: str, run_dirs: Sequence[Path], out_dir: Path) -> Path
        The same over the seeds (and mixes) of several runs; returns out_dir/report.html.
    print_experiment(run_dirs: Sequence[Path], console: Console) -> None
        The tables of the main job on the terminal.
A run folder must hold manifest.json, stats.json and transactions.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from s80lab.report_data import Group, read_groups
from s80lab.report_figures import draw_all
from s80lab.report_page import page
from s80lab.report_style import standalone
from s80lab.report_terminal import print_groups

__all__ = ["print_experiment", "write_experiment_report", "write_run_report"]


def write_run_report(run_dir: Path) -> Path:
    """See the module's text. Raises UserError when the run is not whole."""
    groups = read_groups([run_dir])
    manifest = groups[0].runs[0].manifest
    return _write(f"{manifest['experiment']}, seed {manifest['seed']}", groups, run_dir)


def write_experiment_report(experiment: str, run_dirs: Sequence[Path], out_dir: Path) -> Path:
    """See the module's text. `experiment` is the page's title."""
    return _write(experiment, read_groups(run_dirs), out_dir)


def print_experiment(run_dirs: Sequence[Path], console: Console) -> None:
    """See the module's text."""
    print_groups(read_groups(run_dirs), console)


def _write(title: str, groups: Sequence[Group], out_dir: Path) -> Path:
    pictures = draw_all(groups)
    figures = out_dir / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    for picture in pictures:
        (figures / f"{picture.name}.svg").write_text(standalone(picture.svg), encoding="utf-8")
    target = out_dir / "report.html"
    target.write_text(page(title, groups, pictures), encoding="utf-8")
    return target
