# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of an exploration: results/reports/explore-.../report.html, with its curves as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from s80lab.base import paths
from s80lab.base.hashing import value_hash
from s80lab.base.terminal import counted
from s80lab.capture.explore.figures import curves_figure
from s80lab.capture.explore.grid import Point
from s80lab.capture.explore.table import designs_table, errors_table, labels, verdicts
from s80lab.capture.store import Capture
from s80lab.config.axes import Axis, horizontal
from s80lab.report.data import Run
from s80lab.report.figures.all import Picture
from s80lab.report.figures.style import png, style, svg
from s80lab.report.files import write_files
from s80lab.report.page import Topic, render
from s80lab.report.tables import Cell, Row, Table

CURVES = "curves"
_ONE = "One seed does not show how a difference varies from run to run."
_SEVERAL = (
    "Numbers are means over the captures ± the half-width of the 95% confidence interval (Student t). The interval of "
    "a difference between two designs is narrower, because both play the same captures: `s80lab compare --replay` "
    "prints that interval. Captures are recorded from boot 1, so intervals do not cover other boots."
)


def write_page(
    captures: Sequence[Capture], axes: Sequence[Axis], points: Sequence[Point], runs: Sequence[Sequence[Run]]
) -> Path:
    """Write the page of these replays. The folder depends on the captures and the grid only.

    runs: for each design one run per capture.
    """
    grid = {axis.key: axis.values for axis in axes}
    others = [capture.name for capture in captures[1:]]
    key = value_hash([grid, [point.design.machine.resolved() for point in points], *([others] if others else [])])[:8]
    folder = paths.results() / "reports" / f"explore-{captures[0].name}-{captures[0].form}-{key}"
    with style():
        figure = curves_figure(axes, points, runs)
        picture = Picture(CURVES, "Curves", _caption(axes), svg(figure))
        pngs = {CURVES: png(figure)}
    return write_files(folder, _page(captures, axes, points, runs, picture), [picture], pngs)


def notes(of_designs: Sequence[Sequence[Run]]) -> list[str]:
    """Notes on the interpretation of replays. of_designs: for each design one run per capture."""
    runs = [of_design[0] for of_design in of_designs]
    unmeasured = [run for run in runs if run.manifest["filter_error"] and not run.manifest["filter_error"]["errors"]]
    warning = (
        f"The error of filtered captures has not been measured for {len(unmeasured)} of the {len(runs)} "
        "designs. Measure this error with `s80lab filter-error`, or repeat the replays with a full capture."
    )
    return [
        *([warning] if unmeasured else []),
        "All designs replayed the same recorded accesses, so every difference between designs is due to the "
        f"designs. {_ONE if len(of_designs[0]) == 1 else _SEVERAL} In a replay, clients do not "
        "react to the timing of a design, so there are no response times and no throughput.",
    ]


def _page(
    captures: Sequence[Capture],
    axes: Sequence[Axis],
    points: Sequence[Point],
    runs: Sequence[Sequence[Run]],
    picture: Picture,
) -> str:
    topics = [
        Topic("Curves", [picture], []),
        Topic("All designs", [], [designs_table(labels(axes, points), runs)]),
    ]
    errors = errors_table(axes, points, runs)
    if errors is not None:
        topics.append(Topic(errors.title, [], [errors]))
    grid = "; ".join(f"{axis.key} = {', '.join(axis.values)}" for axis in axes)
    first = runs[0][0]
    named = f"capture{'s' * (len(captures) > 1)} {', '.join(capture.name for capture in captures)}"
    lead = (
        f"{counted(len(points), 'design')}: {grid}. All were replayed from the {captures[0].form} {named}: "
        f"{first.manifest['instructions'] / 1e9:.2f} G instructions measured, after "
        f"{first.stats['warmup']['instructions'] / 1e9:.2f} G of warm-up{' (first capture)' * (len(captures) > 1)}."
    )
    return render(
        f"Designs for {first.manifest['experiment']}, {first.manifest['scale']}",
        lead,
        verdicts=verdicts(runs),
        notes=notes(runs),
        topics=topics,
        origins=_origins(points, runs),
    )


def _caption(axes: Sequence[Axis]) -> str:
    across = horizontal(axes)
    others = " and ".join(axis.key for axis in axes if axis is not across)
    lines = f"; one line per {others}" if others else ""
    return (
        f"x axis: {across.key}{lines}. If lines coincide, the designs differ by less than the figure can show; "
        "the table below has the numbers."
    )


def _origins(points: Sequence[Point], runs: Sequence[Sequence[Run]]) -> list[Table]:
    """Hashes of the captures and the program, and of each design's machine and protocol table."""
    first = runs[0][0].manifest
    common = Table("Inputs common to all designs", ("SHA-256",))
    hashes = [run.manifest["inputs"]["capture"] for run in runs[0]]
    common.rows = [Row("capture", (Cell(one),)) for one in hashes] + [Row("replay", (Cell(first["inputs"]["replay"]),))]
    own = Table("Machine and protocol of each design", ("machine", "protocol", "run"))
    for point, of_design in zip(points, runs, strict=True):
        inputs = of_design[0].manifest["inputs"]
        cells = (inputs["machine"], inputs["protocol"], ", ".join(run.manifest["run"] for run in of_design))
        own.rows.append(Row(point.design.label, tuple(map(Cell, cells))))
    versions = Table("versions", ("version",))
    versions.rows = [Row(name, (Cell(str(version)),)) for name, version in first["versions"].items()]
    return [common, own, versions]
