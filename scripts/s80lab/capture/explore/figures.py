# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves of an exploration: the axis with most numbers runs to the right, every other combination is a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from s80lab.base.strict import parse_size
from s80lab.capture.explore.grid import Axis, Point
from s80lab.capture.explore.table import row_label
from s80lab.report.data import Run
from s80lab.report.figures.style import GROUP_COLOURS, panels, percent_axis

_PANELS: tuple[tuple[str, str, bool], ...] = (
    ("l2_mpki.all", "L2 misses per 1000 instructions", False),
    ("miss_source.all.memory", "Misses serviced by memory", True),
    ("e_share", "Blocks that entered in E (E share)", True),
    ("e_to_m_share", "Of those, stored to (E to M)", True),
    ("upgrade_pki.made", "Upgrades per 1000 instructions", False),
    ("traffic_pki.all", "Bus traffic per 1000 instructions", False),
)
_COLOURS = (*GROUP_COLOURS, "#3b3f8f", "#b5648f", "#8a6d3b", "#2a9d8f")
_MARKERS = "osD^vPX*<>"
_DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))


@dataclass(frozen=True)
class Curve:
    """xs: positions on the horizontal axis; runs at them."""

    label: str
    xs: tuple[int, ...]
    runs: tuple[Run, ...]


def curves_figure(axes: Sequence[Axis], points: Sequence[Point], runs: Sequence[Run]) -> Figure:
    """Six panels over one axis."""
    across = horizontal(axes)
    curves = _curves(axes, points, runs, across)
    rows = -(-len(curves) // _LEGEND_COLUMNS)
    figure, panes = panels(3, 2, 7.2 + 0.2 * rows)
    for pane, (metric, title, share) in zip(panes, _PANELS, strict=True):
        for number, curve in enumerate(curves):
            _draw(pane, curve, metric, number, lined=_is_number(across.values[0]))
        pane.set_title(title)
        pane.set_ylim(bottom=0)
        pane.grid(axis="y")
        pane.set_xticks(range(len(across.values)), across.values)
        pane.set_xlim(-0.3, len(across.values) - 0.7)
        if share:
            percent_axis(pane, "", "y")
    for pane in panes[-2:]:
        pane.set_xlabel(across.key)
    if len(curves) > 1:
        handles = [_handle(curve.label, number) for number, curve in enumerate(curves)]
        figure.legend(
            handles=handles,
            loc="outside upper left",
            ncols=min(_LEGEND_COLUMNS, len(handles)),
            frameon=False,
            borderpad=0,
        )
    return figure


_LEGEND_COLUMNS = 4


def horizontal(axes: Sequence[Axis]) -> Axis:
    """The axis of numbers with most values; the first where none is of numbers."""
    of_numbers = [axis for axis in axes if all(_is_number(value) for value in axis.values)]
    return max(of_numbers, key=lambda axis: len(axis.values), default=axes[0])


def _curves(axes: Sequence[Axis], points: Sequence[Point], runs: Sequence[Run], across: Axis) -> list[Curve]:
    place = list(axes).index(across)
    others = [axis for axis in axes if axis is not across]
    found: dict[str, list[tuple[int, Run]]] = {}
    for point, run in zip(points, runs, strict=True):
        rest = point.values[:place] + point.values[place + 1 :]
        label = row_label(others, rest)
        found.setdefault(label, []).append((across.values.index(point.values[place]), run))
    curves = []
    for label, pairs in found.items():
        pairs.sort(key=lambda pair: pair[0])
        curves.append(Curve(label, tuple(x for x, _ in pairs), tuple(run for _, run in pairs)))
    return curves


def _draw(pane: Axes, curve: Curve, metric: str, number: int, *, lined: bool) -> None:
    known = [
        (x, value) for x, run in zip(curve.xs, curve.runs, strict=True) if (value := run.metrics[metric]) is not None
    ]
    style = _style(number) if lined else {**_style(number), "linestyle": "none"}
    pane.plot([x for x, _ in known], [value for _, value in known], **style)


def _style(number: int) -> dict[str, Any]:
    """Colour, marker, dashes, and thinner than the one below: lines that lie on each other can all be seen."""
    above = min(number, 9)
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "linewidth": 2.6 - 0.17 * above,
        "markersize": 8.0 - 0.6 * above,
        "alpha": 0.9,
    }


def _handle(label: str, number: int) -> Line2D:
    return Line2D([], [], label=label, **_style(number))


def _is_number(value: str) -> bool:
    try:
        parse_size(value)
    except ValueError:
        return False
    return True
