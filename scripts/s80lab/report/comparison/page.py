# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a comparison, or of several comparisons with one first side: report.html and its figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from s80lab.analysis.comparison.contrast import Comparison, Contrast
from s80lab.analysis.groups import Group
from s80lab.analysis.interval import estimate
from s80lab.base.format import ABSENT
from s80lab.report.comparison.tables import designs_table, tables_of
from s80lab.report.comparison.words import lead, notes, verdict_lines
from s80lab.report.figures.all import Picture
from s80lab.report.figures.machine import MOST_MACHINES, Rate, machine_picture
from s80lab.report.figures.style import GROUP_COLOURS, QUIET, panels, png, style, svg
from s80lab.report.machine import table_of_machines
from s80lab.report.page import Topic, render, write_files
from s80lab.report.tables import Cell, Row, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_ROW_IN = 0.26
_MARGIN_IN = 1.0
CAPTION = (
    "Difference of each row in percent of the first design's value, with its 95% interval. Filled markers: the verdict "
    "is higher or lower. Rows in grey are not tested. Rows without a value on the first side are left out."
)


def differences_figure(comparisons: Sequence[Comparison]) -> Figure:
    """One line per row of the comparisons; one colour per design. Several designs have the tested rows only."""
    several = len(comparisons) > 1
    rows = [comparison.tested + ([] if several else comparison.further) for comparison in comparisons]
    order = {one.row.name: one.row.label for one in rows[0] if one.first}
    figure, (pane,) = panels(1, 1, _MARGIN_IN + _ROW_IN * len(order) * max(1, len(comparisons) ** 0.5))
    names = list(order)
    for number, of_comparison in enumerate(rows):
        shift = (number + 0.5) / len(comparisons) - 0.5
        for one in of_comparison:
            if one.first and one.row.name in order:
                _draw(pane, one, names.index(one.row.name) + 0.7 * shift, GROUP_COLOURS[number % len(GROUP_COLOURS)])
    pane.axvline(0, color=QUIET, linewidth=0.8)
    pane.set_yticks(range(len(names)), list(order.values()))
    pane.set_ylim(len(names) - 0.4, -0.6)
    pane.set_xlabel("difference, percent of the first design's value")
    pane.grid(axis="x")
    if several:
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], color=GROUP_COLOURS[number % len(GROUP_COLOURS)], marker="o", label=comparison.second.label)
            for number, comparison in enumerate(comparisons)
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2, frameon=False, borderpad=0)
    return figure


def _draw(pane: Axes, one: Contrast, height: float, colour: str) -> None:
    scale = 100 / abs(one.first)
    half = one.difference.half_width
    tested = one.corrected is not None
    pane.errorbar(
        [one.difference.estimate * scale],
        [height],
        xerr=None if half is None else [half * scale],
        fmt="o",
        color=colour if tested else QUIET,
        markerfacecolor=(colour if tested else QUIET) if one.verdict in ("higher", "lower") else "none",
        elinewidth=1.2,
        capsize=2.5,
        markersize=5,
    )


FIGURE = "differences"
_INPUTS = ("ready", "capture", "initramfs", "plugin", "replay", "machine", "protocol")


def write_comparison(comparisons: Sequence[Comparison], folder: Path, remarks: Sequence[str] = ()) -> Path:
    """Write the page and its figure into the folder; return the page's path. remarks: further notes."""
    with style():
        figure = differences_figure(comparisons)
        picture = Picture(FIGURE, "Differences", CAPTION, svg(figure))
        pngs = {FIGURE: png(figure)}
    machines = _machines(comparisons)
    return write_files(folder, _page(comparisons, picture, machines, remarks), [picture, *machines], pngs)


def _machines(comparisons: Sequence[Comparison]) -> list[Picture]:
    """The diagrams of the first designs, with the means over the runs of each side."""
    sides = list(zip(_labels(comparisons), _sides(comparisons), strict=True))
    return [
        machine_picture(f"machine-{number}", _title(label, side), side.manifest["design"], _means(side))
        for number, (label, side) in enumerate(sides[:MOST_MACHINES], 1)
        if "design" in side.manifest
    ]


def _title(label: str, side: Group) -> str:
    return side.label if label == side.label else f"{label}: {side.label}"


def _means(side: Group) -> Rate:
    """The mean of a metric over the runs of a side; None if a run does not have it."""

    def mean(metric: str) -> float | None:
        found = estimate([run.metrics.get(metric) for run in side.runs])
        return None if found is None else found.mean

    return mean


def _page(
    comparisons: Sequence[Comparison], picture: Picture, machines: Sequence[Picture], remarks: Sequence[str]
) -> str:
    first = comparisons[0]
    several = len(comparisons) > 1
    remarks_of_all = [note for comparison in comparisons for note in notes(comparison)]
    topics = [Topic("Designs", [], [designs_table(comparisons)])] if several else []
    for comparison in comparisons:
        text = " ".join(verdict_lines(comparison)) if several else ""
        for number, table in enumerate(tables_of(comparison)):
            title = f"{comparison.second.label}: {table.title}" if several else table.title
            topics.append(Topic(title, [], [table], text="" if number else text))
    topics.insert(1, Topic("Differences", [picture], []))
    manifests = [side.manifest for side in _sides(comparisons)]
    table = table_of_machines(list(zip(_labels(comparisons), manifests, strict=True)))
    topics.append(Topic("Machine", list(machines), [table]))
    if several:
        opening = f"Each design is compared with {first.first.label}. In each comparison, A is this design."
    else:
        opening = lead(first)
    return render(
        f"{first.first.label}: comparison with {first.second.label if not several else 'other designs'}",
        opening,
        verdicts=[] if several or not verdict_lines(first) else [("Result.", " ".join(verdict_lines(first)))],
        notes=[*dict.fromkeys(remarks_of_all), *remarks],
        topics=topics,
        origins=[_origins(side) for side in _sides(comparisons)],
    )


def _labels(comparisons: Sequence[Comparison]) -> list[str]:
    """The names of the sides in tables of machines."""
    return [side.label for side in _sides(comparisons)] if len(comparisons) > 1 else ["A", "B"]


def _sides(comparisons: Sequence[Comparison]) -> list[Group]:
    return [comparisons[0].first, *(comparison.second for comparison in comparisons)]


def _origins(side: Group) -> Table:
    """The hashes of the inputs of each run."""
    names = [name for name in _INPUTS if any(name in run.manifest["inputs"] for run in side.runs)]
    table = Table(f"Inputs of {side.label}", tuple(names))
    for run in side.runs:
        table.rows.append(Row(run.name, tuple(Cell(str(run.manifest["inputs"].get(name, ABSENT))) for name in names)))
    return table
