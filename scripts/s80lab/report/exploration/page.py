# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of an exploration: results/reports/explore-.../report.html, with its figures as SVG and PNG."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from s80lab.analysis.comparison.contrast import transfers_pki
from s80lab.analysis.groups import Group
from s80lab.analysis.interval import Estimate, estimate, number
from s80lab.base import paths
from s80lab.base.hashing import value_hash
from s80lab.base.strict import parse_size
from s80lab.base.terminal import counted
from s80lab.capture.explore.grid import Point
from s80lab.capture.store import Capture
from s80lab.config.grid import Grid, is_number
from s80lab.report.exploration.table import ENTRIES, Scatter, designs_table, errors_table, scatter_of, verdicts
from s80lab.report.figures import curves
from s80lab.report.figures.all import Picture, drawn_picture
from s80lab.report.figures.caches import sources_of
from s80lab.report.figures.chart import stacked_bars
from s80lab.report.figures.curves import Panel
from s80lab.report.figures.drawing import Drawing
from s80lab.report.figures.style import png, style, svg
from s80lab.report.machine import machine_table
from s80lab.report.page import TEMPLATES, Topic, render, write_files
from s80lab.report.tables import Cell, Row, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
from s80lab.report.figures.style import GROUP_COLOURS, panels

_HEIGHT_IN = 3.6
MOST_VECTORS = 500
"""Designs up to which each point is an element of the SVG; more are drawn as one image."""


def scatter_figure(scatter: Scatter) -> Figure:
    """Draw all designs by the first two quantities, and the line of the front."""
    x, y = scatter.quantities[:2]
    pairs = [(a, b) for a, b in zip(x.values, y.values, strict=True) if a is not None and b is not None]
    figure, (axis,) = panels(1, 1, _HEIGHT_IN)
    many = len(pairs) > MOST_VECTORS
    axis.plot(*zip(*pairs, strict=True), ".", color=GROUP_COLOURS[5], markersize=4 if many else 6, rasterized=many)
    front = [(x.values[one], y.values[one]) for one in scatter.front]
    axis.plot(*zip(*front, strict=True), "o-", color=GROUP_COLOURS[1], markersize=6, label="Pareto front")
    if x.doubling:
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel(x.title)
    axis.set_ylabel(y.title)
    axis.set_ylim(bottom=0)
    axis.grid(axis="both")
    axis.legend(loc="upper right", frameon=False)
    return figure


def caption(scatter: Scatter) -> str:
    """The caption, with the meaning of the front."""
    x, y = scatter.quantities[:2]
    return (
        f"One point per design: {x.title} and {y.title}. A design is on the Pareto front if no other design is at most "
        "as large in both quantities and smaller in one. If some designs are valid, only valid designs are on the "
        "front."
    )


TRANSFERS = "transfers_pki"
"""Stands for a value that is not a metric of stats.json: see `_transfers`."""
MOST_BARS = 32
"""Designs that have a bar; more bars would make the figure longer than the table."""
_PANELS = (
    Panel("l2_mpki.all", "L2 misses per 1000 instructions"),
    Panel("cpi.all", "Cycles per instruction"),
    Panel("miss_source.all.memory", "Misses serviced by memory", share=True),
    Panel(TRANSFERS, "Cache-to-cache transfers per 1000 instructions"),
    Panel("miss_source.all.M", "Misses serviced by a cache in M", share=True),
    Panel("miss_source.all.S", "Misses serviced by a cache in S", share=True),
    Panel("e_share", "E share of the fills", share=True),
    Panel("e_to_m_share", "Silent E-to-M upgrades per E fill", share=True),
    Panel("upgrade_pki.made", "Upgrades per 1000 instructions"),
    Panel("traffic_pki.all", "Bus traffic per 1000 instructions"),
)


def curves_figure(grid: Grid, points: Sequence[Point], groups: Sequence[Group]) -> Figure:
    """The curves of an exploration: panels over one axis. groups: one per design (table.design_groups)."""
    return curves.curves_figure(
        grid,
        [point.values for point in points],
        lambda point, metric: _transfers(groups[point]) if metric == TRANSFERS else groups[point].estimate(metric),
        _PANELS,
    )


def lines_of(grid: Grid) -> int:
    """The number of lines in each panel: one per combination of the axes other than the x axis."""
    return prod(len(axis.values) for axis in grid.without(grid.across()).axes)


def sources_chart(groups: Sequence[Group]) -> Drawing:
    """One bar per design: the sources of all its L2 misses."""
    sources = sources_of(groups)
    rows = [(group.label, [group.mean(f"miss_source.all.{source}") for source in sources]) for group in groups]
    return stacked_bars("", rows, sources, "share of the L2 misses")


def _transfers(group: Group) -> Estimate | None:
    """Misses that another cache serviced, per 1000 instructions."""
    return estimate([transfers_pki(run.metrics) for run in group.runs])


DIGITS = 7
"""Significant digits of the numbers by which the script sorts and draws."""


def explorer(grid: Grid, points: Sequence[Mapping[str, str]], groups: Sequence[Group], scatter: Scatter) -> Markup:
    """The data, the script, and the places that the script fills.

    points: for each design its value on each axis of the grid. groups: one per design.
    """
    content = json.dumps(_content(grid, points, groups, scatter), separators=(",", ":"), allow_nan=False)
    data = content.replace("<", "\\u003c")  # no text can end the element
    look, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("explorer.css", "explorer.js"))
    return Markup(
        f'<style>\n{look}</style>\n<div id="explorer"></div>\n'
        f'<script type="application/json" id="designs">{data}</script>\n<script>\n{script}</script>'
    )


def _content(
    grid: Grid, points: Sequence[Mapping[str, str]], groups: Sequence[Group], scatter: Scatter
) -> dict[str, Any]:
    """columns: titles, with 1 for a column of numbers. rows: of each design the texts of its cells; a number to sort by
    follows where the text is not that number. quantities, fronts: of the scatter plot."""
    axes = [axis.key for axis in grid.axes]
    numeric = {axis.key: all(map(is_number, axis.values)) for axis in grid.axes}
    rows = []
    for point, group in zip(points, groups, strict=True):
        cells: list[Any] = [[point[key], parse_size(point[key])] if numeric[key] else point[key] for key in axes]
        for entry in ENTRIES:
            value = group.estimate(entry.metric)
            cells.append(
                [number(value, entry.style), None if value is None else _short(value.mean * entry.style.scale)]
            )
        rows.append([*cells, "invalid" if group.reasons else "valid"])
    return {
        "columns": [
            *([key, int(numeric[key])] for key in axes),
            *([entry.label, 1] for entry in ENTRIES),
            ["verdict", 0],
        ],
        "labels": [group.label for group in groups],
        "rows": rows,
        "quantities": [
            {
                "title": one.title,
                "doubling": one.doubling,
                "values": [None if value is None else _short(value) for value in one.values],
            }
            for one in scatter.quantities
        ],
        "fronts": {f"{x},{y}": front for (x, y), front in scatter.fronts.items()},
    }


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


CURVES, SCATTER, SOURCES_FIGURE = "curves", "scatter", "sources"
MOST_LINES = 40
"""Lines of a panel up to which the page has curves; of more lines, no line could be told from another."""
MOST_ROWS = 100
"""Rows of a table without a script."""
_SOURCES_TITLE = "Sources of the L2 misses"
_SOURCES_CAPTION = (
    "What serviced the L2 misses of each design. Each bar is 100% of the misses of its design; the numbers in the bars "
    "are percent."
)
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
    scatter = scatter_of(grid, [point.values for point in points], groups)
    with style():
        figures = {SCATTER: ("Pareto front", caption(scatter), scatter_figure(scatter))}
        if lines_of(grid) <= MOST_LINES:
            figures = {CURVES: ("Curves", _caption(grid), curves_figure(grid, points, groups)), **figures}
        pictures = [Picture(name, title, text, svg(figure)) for name, (title, text, figure) in figures.items()]
        pngs = {name: png(figure) for name, (_, _, figure) in figures.items()}
        if len(groups) <= MOST_BARS:
            title = f"{_SOURCES_TITLE} of each design"
            pictures.append(drawn_picture(SOURCES_FIGURE, title, _SOURCES_CAPTION, [sources_chart(groups)]))
    return write_files(folder, _page(captures, grid, points, groups, scatter, pictures), pictures, pngs)


def notes(groups: Sequence[Group]) -> list[str]:
    """Notes on the interpretation of replays. groups: one per design."""
    runs = [group.runs[0] for group in groups]
    filtered = [run.manifest["filter_error"] for run in runs if run.manifest["filter_error"]]
    unmeasured = [error for error in filtered if not error["errors"]]
    warnings = []
    if unmeasured and groups[0].imported:
        warnings.append(str(unmeasured[0]["statement"]))
    elif unmeasured:
        warnings.append(
            f"The error of filtered captures has not been measured for {len(unmeasured)} of the {len(runs)} "
            "designs. Measure this error with `s80lab filter-error`, or repeat the replays with a full capture."
        )
    return [
        *warnings,
        "All designs replayed the same recorded accesses, so every difference between designs is due to the "
        f"designs. {_ONE if len(groups[0].runs) == 1 else _SEVERAL} In a replay, clients do not "
        "react to the timing of a design, so there are no response times and no throughput.",
    ]


def _page(
    captures: Sequence[Capture],
    grid: Grid,
    points: Sequence[Point],
    groups: Sequence[Group],
    scatter: Scatter,
    pictures: Sequence[Picture],
) -> str:
    drawn = {picture.name: picture for picture in pictures}
    script = explorer(grid, [point.values for point in points], groups, scatter)
    topics = [
        *([Topic("Curves", [drawn[CURVES]], [])] if CURVES in drawn else []),
        *([Topic(_SOURCES_TITLE, [drawn[SOURCES_FIGURE]], [])] if SOURCES_FIGURE in drawn else []),
        Topic("Pareto front", [drawn[SCATTER]], [], container="scatter-plot"),
        Topic("All designs", [], [_shortened(designs_table(groups))], container="static-designs", script=script),
        Topic("Machine", [], [machine_table(groups)]),
    ]
    errors = errors_table(groups)
    if errors is not None:
        topics.append(Topic(errors.title, [], [_shortened(errors)]))
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


def _shortened(table: Table) -> Table:
    """The table, of which a page shows only the first rows if it has many."""
    if len(table.rows) > MOST_ROWS:
        table.shown = MOST_ROWS
        first = f"Without a script, the page shows the first {MOST_ROWS} of {len(table.rows):,} designs."
        table.note = f"{first} The CSV file has all designs. {table.note}"
    return table


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
    if len(own.rows) > MOST_ROWS:
        own.shown = MOST_ROWS
        own.note = f"The first {MOST_ROWS} of {len(own.rows):,} designs; `manifest.json` of each run has its hashes."
    versions = Table("versions", ("version",))
    versions.rows = [Row(name, (Cell(str(version)),)) for name, version in first["versions"].items()]
    return [common, own, versions]
