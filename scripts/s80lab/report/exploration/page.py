# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of an exploration: results/reports/explore-.../report.html, with its curves as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from s80lab.analysis.groups import Group
from s80lab.base import paths
from s80lab.base.hashing import value_hash
from s80lab.base.terminal import counted
from s80lab.capture.explore.grid import Point
from s80lab.capture.store import Capture
from s80lab.config.grid import Grid
from s80lab.report.exploration.figures import curves_figure
from s80lab.report.exploration.table import designs_table, errors_table, verdicts
from s80lab.report.figures.all import Picture
from s80lab.report.figures.style import png, style, svg
from s80lab.report.files import write_files
from s80lab.report.machine import machine_table
from s80lab.report.page import Topic, render
from s80lab.report.tables import Cell, Row, Table

CURVES = "curves"
_ONE = "One seed does not show how a difference varies from run to run."
_SEVERAL = (
    "Numbers are means over the captures ± the half-width of the 95% confidence interval (Student t). The interval of "
    "a difference between two designs is narrower, because both play the same captures: `s80lab compare --replay` "
    "prints that interval. Captures are recorded from boot 1, so intervals do not cover other boots."
)


def write_page(captures: Sequence[Capture], grid: Grid, points: Sequence[Point], groups: Sequence[Group]) -> Path:
    """Write the page of these replays. The folder depends on the captures and the grid only.

    groups: one per design (table.design_groups).
    """
    values = {axis.key: axis.values for axis in grid.axes}
    others = [capture.name for capture in captures[1:]]
    inputs = [values, [point.design.machine.resolved() for point in points], *([others] if others else [])]
    name = f"explore-{captures[0].name}-{captures[0].form}-{value_hash(inputs)[:8]}"
    folder = paths.results() / "reports" / name
    with style():
        figure = curves_figure(grid, points, groups)
        picture = Picture(CURVES, "Curves", _caption(grid), svg(figure))
        pngs = {CURVES: png(figure)}
    return write_files(folder, _page(captures, grid, points, groups, picture), [picture], pngs)


def notes(groups: Sequence[Group]) -> list[str]:
    """Notes on the interpretation of replays. groups: one per design."""
    runs = [group.runs[0] for group in groups]
    unmeasured = [run for run in runs if run.manifest["filter_error"] and not run.manifest["filter_error"]["errors"]]
    warning = (
        f"The error of filtered captures has not been measured for {len(unmeasured)} of the {len(runs)} "
        "designs. Measure this error with `s80lab filter-error`, or repeat the replays with a full capture."
    )
    return [
        *([warning] if unmeasured else []),
        "All designs replayed the same recorded accesses, so every difference between designs is due to the "
        f"designs. {_ONE if len(groups[0].runs) == 1 else _SEVERAL} In a replay, clients do not "
        "react to the timing of a design, so there are no response times and no throughput.",
    ]


def _page(
    captures: Sequence[Capture], grid: Grid, points: Sequence[Point], groups: Sequence[Group], picture: Picture
) -> str:
    topics = [
        Topic("Curves", [picture], []),
        Topic("All designs", [], [designs_table(groups)]),
        Topic("Machine", [], [machine_table(groups)]),
    ]
    errors = errors_table(groups)
    if errors is not None:
        topics.append(Topic(errors.title, [], [errors]))
    first = groups[0].runs[0]
    several = len(captures) > 1
    named = f"capture{'s' * several} {', '.join(capture.name for capture in captures)}"
    lead = (
        f"{counted(len(points), 'design')}: {grid}. All were replayed from the {captures[0].form} {named}: "
        f"{first.manifest['instructions'] / 1e9:.2f} G instructions measured, after "
        f"{first.stats['warmup']['instructions'] / 1e9:.2f} G of warm-up{' (first capture)' * several}."
    )
    return render(
        f"Designs for {first.manifest['experiment']}, {first.manifest['scale']}",
        lead,
        verdicts=verdicts(groups),
        notes=notes(groups),
        topics=topics,
        origins=_origins(points, groups),
    )


def _caption(grid: Grid) -> str:
    across = grid.across()
    others = " and ".join(axis.key for axis in grid.without(across).axes)
    lines = f"; one line per {others}" if others else ""
    return (
        f"x axis: {across.key}{lines}. If lines coincide, the designs differ by less than the figure can show; "
        "the table below has the numbers."
    )


def _origins(points: Sequence[Point], groups: Sequence[Group]) -> list[Table]:
    """Hashes of the captures and the program, and of each design's machine and protocol table."""
    first = groups[0].runs[0].manifest
    common = Table("Inputs common to all designs", ("SHA-256",))
    hashes = [run.manifest["inputs"]["capture"] for run in groups[0].runs]
    common.rows = [Row("capture", (Cell(one),)) for one in hashes] + [Row("replay", (Cell(first["inputs"]["replay"]),))]
    own = Table("Machine and protocol of each design", ("machine", "protocol", "run"))
    for point, group in zip(points, groups, strict=True):
        inputs = group.runs[0].manifest["inputs"]
        cells = (inputs["machine"], inputs["protocol"], ", ".join(run.manifest["run"] for run in group.runs))
        own.rows.append(Row(point.design.label, tuple(map(Cell, cells))))
    versions = Table("versions", ("version",))
    versions.rows = [Row(name, (Cell(str(version)),)) for name, version in first["versions"].items()]
    return [common, own, versions]
