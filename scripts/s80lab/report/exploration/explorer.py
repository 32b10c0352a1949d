# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of an exploration's page that works with a script: a table that can be sorted and filtered, and a scatter
plot of two quantities that the reader chooses. The data and the script are in the page, so it needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from s80lab.analysis.groups import Group
from s80lab.analysis.rows import number
from s80lab.base.strict import parse_size
from s80lab.config.grid import Grid, is_number
from s80lab.report.exploration.quantities import Scatter
from s80lab.report.exploration.table import ENTRIES
from s80lab.report.page import TEMPLATES

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
