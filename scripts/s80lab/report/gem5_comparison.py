# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a comparison of the engines: a table, a figure of its sampling intervals, and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from s80lab.analysis.interval import Estimate
from s80lab.base.files import write_file
from s80lab.base.format import ABSENT
from s80lab.gem5.intervals import QUANTITIES, Row, Side, record, rows_of
from s80lab.report.figures.style import GROUP_COLOURS, panels, percent_axis, png, style
from s80lab.report.tables import Cell, Table, markdown
from s80lab.report.tables import Row as TableRow
from s80lab.results.metrics.derive import render

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


def comparison(title: str, rows: Sequence[Row], control: str, cold: bool, speeds: str) -> dict[str, Any]:
    """The content of compare.json. control: the control's protocol; speeds: a sentence on the engines' speeds."""
    return {"schema": 1, "title": title, "control": control, "cold": cold, "speeds": speeds, "rows": record(rows)}


def table(content: Mapping[str, Any]) -> Table:
    """All quantities of a comparison. The table marks differences above 5 points, and values of caches that had not
    reached steady state."""
    cold = content["cold"]
    made = Table(
        content["title"], ("gem5", "model", "model, range over seeds", "gem5 - model", f"model, {content['control']}")
    )
    made.note = (
        "Values over the whole measured region. Each sampling interval of gem5 is compared with the model's interval "
        "after the same warm-up. The 95% confidence intervals are from blocks of consecutive sampling intervals of one "
        "region. The blocks are not replications, so the intervals do not cover the variation between runs. Range "
        "over seeds: the model's lowest and highest value, which shows random variation. Differences are in points "
        "for shares and rates, otherwise in percent; ! marks more than 5 points."
        + (" The caches had not reached steady state." if cold else "")
        + f" {content['speeds']}"
    )
    for row in rows_of(content["rows"]):
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
    """Each quantity over the instructions since empty caches, with one line per run."""
    drawn, panes = panels(4, 2, 9.0)
    chosen = [quantity for name in _PANELS for quantity in QUANTITIES if quantity.metrics[0] == name]
    for pane, quantity in zip(panes, chosen, strict=True):
        for number, side in enumerate(sides):
            for index, (intervals, values) in enumerate(zip(side.intervals, side.values(quantity), strict=True)):
                ends = [sum(w.instructions for w in intervals[: at + 1]) / 1e6 for at in range(len(intervals))]
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
            percent_axis(pane)
    for pane in panes[-2:]:
        pane.set_xlabel("instructions since empty caches (millions)")
    handles, labels = panes[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, borderpad=0)
    return drawn


def write_files(folder: Path, content: Mapping[str, Any], sides: Sequence[Side]) -> None:
    """Write compare.json, compare.md and intervals.png. content: see `comparison`."""
    write_file(folder / "compare.json", render(content))
    write_markdown(folder)
    with style():
        write_file(folder / "intervals.png", png(figure(sides)))


def write_markdown(folder: Path) -> Path:
    """Write compare.md from the folder's compare.json; return its path."""
    target = folder / "compare.md"
    content = json.loads((folder / "compare.json").read_text(encoding="utf-8"))
    write_file(target, markdown(table(content)))
    return target


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
