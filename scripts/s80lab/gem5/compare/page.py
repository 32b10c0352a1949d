# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison of the engines as a table, a picture of its windows, and files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from s80lab.gem5.compare.windows import QUANTITIES, Row, Side, record
from s80lab.report.figures.style import GROUP_COLOURS, panels, percent_axis, png, style
from s80lab.report.interval import Estimate
from s80lab.report.markdown import markdown
from s80lab.report.tables import ABSENT, Cell, Table
from s80lab.report.tables import Row as TableRow
from s80lab.results.metrics.derive import render
from s80lab.trace.files import write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGE_POINTS = 5.0
_PANELS = (
    "miss_source.all.memory",
    "miss_source.all.M",
    "miss_source.all.E",
    "miss_source.all.O",
    "e_share",
    "e_to_m_share",
    "l2_mpki.all",
    "upgrade_pki.made",
)


def table(title: str, rows: Sequence[Row], control: str, cold: bool) -> Table:
    """All quantities; a difference above 5 points is marked, numbers of caches that had not settled say so."""
    made = Table(title, ("gem5", "model", "its seeds", "gem5 - model", f"model, {control}"))
    made.note = (
        "Over the whole region, each window against the one of the same warm-up; 95% intervals from blocks of "
        "consecutive windows. Its seeds: the least and the most of the model's, which is what chance does. Points "
        "of shares and rates, percent of the rest; ! marks more than 5 points."
        + (" The caches are not warm." if cold else "")
    )
    for row in rows:
        scale = 100.0 if row.quantity.points else 1.0
        cells = [_number(value, scale) for value in (row.gem5, row.model)]
        made.rows.append(
            TableRow(
                row.quantity.title,
                (
                    *(Cell(text, warm=not cold) for text in cells),
                    Cell(_range(row.seeds, scale), warm=not cold),
                    Cell(_difference(row)),
                    Cell(_number(row.control, scale)),
                ),
                title=" + ".join(row.quantity.metrics),
            )
        )
    return made


def figure(sides: Sequence[Side]) -> Figure:
    """Each quantity over the instructions since empty caches; one line a run."""
    drawn, panes = panels(4, 2, 9.0)
    chosen = [quantity for name in _PANELS for quantity in QUANTITIES if quantity.metrics[0] == name]
    for pane, quantity in zip(panes, chosen, strict=True):
        for number, side in enumerate(sides):
            for index, (windows, values) in enumerate(zip(side.windows, side.values(quantity), strict=True)):
                ends = [sum(w.instructions for w in windows[: at + 1]) / 1e6 for at in range(len(windows))]
                known = [(x, y) for x, y in zip(ends, values, strict=True) if y is not None]
                pane.plot(
                    [x for x, _ in known],
                    [y for _, y in known],
                    color=GROUP_COLOURS[number],
                    marker="o",
                    markersize=2.5,
                    linewidth=1.1,
                    label=side.label if index == 0 else None,
                )
        pane.set_title(quantity.title)
        pane.set_ylim(bottom=0)
        pane.grid(axis="y")
        if quantity.points:
            percent_axis(pane, "", "y")
    for pane in panes[-2:]:
        pane.set_xlabel("million instructions since empty caches")
    handles, labels = panes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, borderpad=0)
    return drawn


def write_files(folder: Path, made: Table, rows: Sequence[Row], sides: Sequence[Side]) -> None:
    """compare.md, compare.json, windows.png."""
    write(folder / "compare.md", markdown(made).encode())
    write(folder / "compare.json", render({"schema": 1, "title": made.title, "rows": record(rows)}).encode())
    with style():
        write(folder / "windows.png", png(figure(sides)))


def _number(value: Estimate | None, scale: float) -> str:
    if value is None:
        return ABSENT
    unit = "%" if scale == 100.0 else ""
    half = "" if value.half_width is None else f" ± {scale * value.half_width:.2f}"
    return f"{scale * value.mean:.2f}{half}{unit}"


def _range(values: Sequence[float], scale: float) -> str:
    if len(values) < 2:
        return ABSENT
    return f"{scale * min(values):.2f} to {scale * max(values):.2f}{'%' if scale == 100.0 else ''}"


def _difference(row: Row) -> str:
    if row.difference is None or row.model is None or (not row.model.mean and not row.quantity.points):
        return ABSENT
    scale = 100.0 if row.quantity.points else 100.0 / row.model.mean
    half = "" if row.difference.half_width is None else f" ± {abs(scale) * row.difference.half_width:.2f}"
    large = " !" if row.quantity.points and abs(scale * row.difference.mean) > LARGE_POINTS else ""
    return f"{scale * row.difference.mean:+.2f}{half}{'' if row.quantity.points else '%'}{large}"
