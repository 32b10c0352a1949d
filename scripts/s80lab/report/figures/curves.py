# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves over a grid of designs or loads. The numeric axis with the most values is the x axis; every combination of the
other axes is one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from s80lab.analysis.interval import Estimate
from s80lab.config.grid import Axis, Grid, is_number
from s80lab.report.figures.style import GROUP_COLOURS, panel_each, percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (*GROUP_COLOURS, "#3b3f8f", "#b5648f", "#8a6d3b", "#2a9d8f")
_MARKERS = "osD^vPX*<>"
_DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
_LEGEND_COLUMNS = 4
_LEGEND_CHARACTERS = 105  # that fit in one row of the legend, with handles
_TITLE_CHARACTERS = 44  # that fit above a panel
_PANEL_HEIGHT_IN = 2.4
_LEGEND_ROW_IN = 0.2
_ABREAST = 2
_HEADROOM = 1.06  # above the highest point, for its marker


@dataclass(frozen=True)
class Panel:
    """One panel: a metric over the x axis. share: print it in percent."""

    metric: str
    title: str
    share: bool = False


@dataclass(frozen=True)
class _Curve:
    """One line. points: pairs (position on the x axis, number of the grid point)."""

    label: str
    points: tuple[tuple[int, int], ...]


def curves_figure(
    grid: Grid,
    points: Sequence[Mapping[str, str]],
    value: Callable[[int, str], Estimate | None],
    shown: Sequence[Panel],
) -> Figure:
    """points: for each point of the grid its value on each axis. value: a function from a point's number
    and a metric to an estimate. Estimates with intervals get error bars."""
    across = grid.across()
    curves = _curves(grid, points, across)
    columns = _legend_columns(curves)
    figure, panes = panel_each(len(shown), _PANEL_HEIGHT_IN, _ABREAST)
    figure.set_figheight(figure.get_figheight() + _LEGEND_ROW_IN * -(-len(curves) // columns))
    for pane, panel in zip(panes, shown, strict=True):
        for number, curve in enumerate(curves):
            known = [(x, value(point, panel.metric)) for x, point in curve.points]
            _draw(pane, [(x, found) for x, found in known if found], number, is_number(across.values[0]))
        pane.set_title(fill(panel.title, _TITLE_CHARACTERS))
        pane.set_ylim(0, _HEADROOM * pane.dataLim.y1 if pane.dataLim.y1 > 0 else 1)
        pane.grid(axis="y")
        pane.set_xticks(range(len(across.values)), across.values)
        pane.set_xlim(-0.3, len(across.values) - 0.7)
        if panel.share:
            percent_axis(pane, "", "y")
    for lowest in panes[-_ABREAST:]:
        lowest.set_xlabel(across.key)
    if len(curves) > 1:
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], label=curve.label, **_style(number)) for number, curve in enumerate(curves)]
        figure.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False, borderpad=0)
    return figure


def _legend_columns(curves: Sequence[_Curve]) -> int:
    longest = max(len(curve.label) for curve in curves) + 8
    return max(1, min(_LEGEND_COLUMNS, len(curves), _LEGEND_CHARACTERS // longest))


def _curves(grid: Grid, points: Sequence[Mapping[str, str]], across: Axis) -> list[_Curve]:
    others = grid.without(across)
    found: dict[str, list[tuple[int, int]]] = {}
    for number, point in enumerate(points):
        found.setdefault(others.label(point), []).append((across.values.index(point[across.key]), number))
    return [_Curve(label, tuple(sorted(pairs))) for label, pairs in found.items()]


def _draw(pane: Axes, known: Sequence[tuple[int, Estimate]], number: int, lined: bool) -> None:
    style = _style(number) if lined else {**_style(number), "linestyle": "none"}
    xs, means = [x for x, _ in known], [estimate.mean for _, estimate in known]
    pane.plot(xs, means, **style)
    widths = [estimate.half_width or 0.0 for _, estimate in known]
    if any(widths):
        pane.errorbar(xs, means, widths, fmt="none", ecolor=style["color"], elinewidth=1.0, capsize=2.5)


def _style(number: int) -> dict[str, Any]:
    """Colour, marker and dashes of a line. Later lines are thinner, so coinciding lines stay visible."""
    above = min(number, 9)
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "linewidth": 2.6 - 0.17 * above,
        "markersize": 8.0 - 0.6 * above,
        "alpha": 0.9,
    }
