# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of an exploration: results/reports/explore-.../report.html, with its curves as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from s80lab.analysis.groups import Group, Run
from s80lab.base import paths
from s80lab.base.hashing import value_hash
from s80lab.base.terminal import counted
from s80lab.capture.explore.grid import Point
from s80lab.capture.store import Capture
from s80lab.config.grid import Grid
from s80lab.report.exploration.figures import curves_figure
from s80lab.report.exploration.table import designs_table, errors_table, labels, verdicts
from s80lab.report.figures.all import Picture
from s80lab.report.figures.style import png, style, svg
from s80lab.report.files import write_files
from s80lab.report.machine import machine_table
from s80lab.report.page import Topic, render
from s80lab.report.tables import Cell, Row, Table

CURVES = "curves"


def write_page(capture: Capture, grid: Grid, points: Sequence[Point], runs: Sequence[Run]) -> Path:
    """Write the page of these replays. The folder depends on the capture and the grid only."""
    values = {axis.key: axis.values for axis in grid.axes}
    key = value_hash([values, [point.design.machine.resolved() for point in points]])[:8]
    folder = paths.results() / "reports" / f"explore-{capture.name}-{capture.form}-{key}"
    with style():
        figure = curves_figure(grid, points, runs)
        picture = Picture(CURVES, "Curves", _caption(grid), svg(figure))
        pngs = {CURVES: png(figure)}
    return write_files(folder, _page(capture, grid, points, runs, picture), [picture], pngs)


def notes(runs: Sequence[Run]) -> list[str]:
    """Notes on the interpretation of a replay's numbers."""
    unmeasured = [run for run in runs if run.manifest["filter_error"] and not run.manifest["filter_error"]["errors"]]
    warning = (
        f"The error of filtered captures has not been measured for {len(unmeasured)} of the {len(runs)} "
        "designs. Measure this error with `s80lab filter-error`, or repeat the replays with a full capture."
    )
    return [
        *([warning] if unmeasured else []),
        "All designs replayed the same recorded accesses, so every difference between designs is due to the "
        "designs. One seed does not show how a difference varies from run to run. In a replay, clients do not "
        "react to the timing of a design, so there are no response times and no throughput.",
    ]


def _page(capture: Capture, grid: Grid, points: Sequence[Point], runs: Sequence[Run], picture: Picture) -> str:
    topics = [
        Topic("Curves", [picture], []),
        Topic("All designs", [], [designs_table(labels(grid, points), runs)]),
        Topic("Machine", [], [machine_table(_groups(grid, points, runs))]),
    ]
    errors = errors_table(grid, points, runs)
    if errors is not None:
        topics.append(Topic(errors.title, [], [errors]))
    lead = (
        f"{counted(len(points), 'design')}: {grid}. All were replayed from the {capture.form} capture {capture.name}: "
        f"{runs[0].manifest['instructions'] / 1e9:.2f} G instructions measured, after "
        f"{runs[0].stats['warmup']['instructions'] / 1e9:.2f} G of warm-up."
    )
    return render(
        f"Designs for {runs[0].manifest['experiment']}, {runs[0].manifest['scale']}",
        lead,
        verdicts=verdicts(runs),
        notes=notes(runs),
        topics=topics,
        origins=_origins(points, runs),
    )


def _groups(grid: Grid, points: Sequence[Point], runs: Sequence[Run]) -> list[Group]:
    """Each design as a group of one run."""
    return [Group(name, (run,)) for name, run in zip(labels(grid, points), runs, strict=True)]


def _caption(grid: Grid) -> str:
    across = grid.across()
    others = " and ".join(axis.key for axis in grid.without(across).axes)
    lines = f"; one line per {others}" if others else ""
    return (
        f"x axis: {across.key}{lines}. If lines coincide, the designs differ by less than the figure can show; "
        "the table below has the numbers."
    )


def _origins(points: Sequence[Point], runs: Sequence[Run]) -> list[Table]:
    """Hashes of the capture and the program, and of each design's machine and protocol table."""
    first = runs[0].manifest
    common = Table("Inputs common to all designs", ("SHA-256",))
    common.rows = [Row(name, (Cell(first["inputs"][name]),)) for name in ("capture", "replay")]
    own = Table("Machine and protocol of each design", ("machine", "protocol", "run"))
    for point, run in zip(points, runs, strict=True):
        inputs = run.manifest["inputs"]
        cells = (inputs["machine"], inputs["protocol"], run.manifest["run"])
        own.rows.append(Row(point.design.label, tuple(map(Cell, cells))))
    versions = Table("versions", ("version",))
    versions.rows = [Row(name, (Cell(str(version)),)) for name, version in first["versions"].items()]
    return [common, own, versions]
