# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves over a grid of designs or loads. The numeric axis with the most values is the x axis; every combination of the
other axes is one line. Numbers have their true positions on the x axis, which is logarithmic if each is a multiple of
the one before by the same factor; values that are not numbers stand at equal distances."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

from s80lab.analysis.interval import Estimate
from s80lab.base.strict import parse_size
from s80lab.config.grid import Axis, Grid, is_number
from s80lab.report.figures.style import GROUP_COLOURS, QUIET, WIDTH_IN, panel_each, percent_axis

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
_AXIS_IN = 0.6  # of a panel's width, for the labels of the y axis
_ABREAST = 2
_HEADROOM = 1.06  # above the highest point, for its marker
_CHARACTER_IN = 0.085  # of a tick's label, with the gap to the next label
PROCESSORS = ("cores", "processors.count")
PROPORTIONAL = "throughput"
"""The metric that ideally grows with the number of processors."""


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
    points: tuple[tuple[float, int], ...]


@dataclass(frozen=True)
class _Positions:
    """Positions of values on the x axis. scale: the scale of matplotlib."""

    by_value: Mapping[str, float]
    scale: Literal["linear", "log"]

    def limits(self) -> tuple[float, float]:
        """The ends of the axis: a little beyond the first and the last value."""
        low, high = min(self.by_value.values()), max(self.by_value.values())
        if self.scale == "log":
            beyond = (high / low) ** 0.06
            return low / beyond, high * beyond
        beyond = 0.06 * (high - low) or 0.3
        return low - beyond, high + beyond

    def labels(self, width_in: float) -> list[str]:
        """The values as labels of an axis of this width, without those that would overlap the label before."""
        low, high = map(self._linear, self.limits())
        labels, end = {}, -math.inf
        for value, position in sorted(self.by_value.items(), key=lambda one: one[1]):
            centre = (self._linear(position) - low) / (high - low) * width_in
            half = _CHARACTER_IN * len(value) / 2
            labels[value] = value if centre - half >= end else ""
            end = centre + half if labels[value] else end
        return [labels[value] for value in self.by_value]

    def _linear(self, position: float) -> float:
        return math.log(position) if self.scale == "log" else position


def _positions(across: Axis) -> _Positions:
    if not all(is_number(value) for value in across.values):
        return _Positions({value: float(number) for number, value in enumerate(across.values)}, "linear")
    found = {value: float(parse_size(value)) for value in across.values}
    ordered = sorted(found.values())
    factors = [above / below for below, above in pairwise(ordered) if below > 0]
    multiples = len(factors) == len(ordered) - 1 >= 2 and max(factors) / min(factors) < 1.01
    return _Positions(found, "log" if multiples else "linear")


def curves_figure(
    grid: Grid,
    points: Sequence[Mapping[str, str]],
    value: Callable[[int, str], Estimate | None],
    shown: Sequence[Panel],
) -> Figure:
    """points: for each point of the grid its value on each axis. value: a function from a point's number
    and a metric to an estimate. Estimates with intervals get error bars."""
    across = grid.across()
    places = _positions(across)
    curves = _curves(grid, points, across.key, places)
    columns = _legend_columns(curves)
    from matplotlib.ticker import NullLocator

    figure, panes = panel_each(len(shown), _PANEL_HEIGHT_IN, _ABREAST)
    figure.set_figheight(figure.get_figheight() + _LEGEND_ROW_IN * -(-len(curves) // columns))
    for pane, panel in zip(panes, shown, strict=True):
        for number, curve in enumerate(curves):
            known = [(x, found) for x, point in curve.points if (found := value(point, panel.metric)) is not None]
            _draw(pane, known, number, is_number(across.values[0]))
            if number == 0 and known and panel.metric == PROPORTIONAL and across.key in PROCESSORS:
                _draw_proportional(pane, known[0], max(places.by_value.values()))
        pane.set_title(fill(panel.title, _TITLE_CHARACTERS))
        pane.set_ylim(0, _HEADROOM * pane.dataLim.y1 if pane.dataLim.y1 > 0 else 1)
        pane.grid(axis="y")
        pane.set_xscale(places.scale)
        pane.set_xticks(list(places.by_value.values()), places.labels(WIDTH_IN / _ABREAST - _AXIS_IN))
        pane.xaxis.set_minor_locator(NullLocator())
        pane.set_xlim(places.limits())
        if panel.share:
            percent_axis(pane)
    for lowest in panes[-_ABREAST:]:
        lowest.set_xlabel(f"{across.key}{', logarithmic' if places.scale == 'log' else ''}")
    if len(curves) > 1:
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], label=curve.label, **_style(number)) for number, curve in enumerate(curves)]
        figure.legend(handles=handles, loc="outside upper left", ncols=columns, frameon=False, borderpad=0)
    return figure


def _legend_columns(curves: Sequence[_Curve]) -> int:
    longest = max(len(curve.label) for curve in curves) + 8
    return max(1, min(_LEGEND_COLUMNS, len(curves), _LEGEND_CHARACTERS // longest))


def _curves(grid: Grid, points: Sequence[Mapping[str, str]], key: str, places: _Positions) -> list[_Curve]:
    others = Grid(tuple(axis for axis in grid.axes if axis.key != key))
    found: dict[str, list[tuple[float, int]]] = {}
    for number, point in enumerate(points):
        found.setdefault(others.label(point), []).append((places.by_value[point[key]], number))
    return [_Curve(label, tuple(sorted(pairs))) for label, pairs in found.items()]


def _draw_proportional(pane: Axes, first: tuple[float, Estimate], end: float) -> None:
    """Draws a dashed line through the origin and the first point: what grows like the number of processors."""
    slope = first[1].mean / first[0]
    pane.plot([first[0], end], [first[1].mean, slope * end], color=QUIET, linewidth=1.0, linestyle=_DASHES[1], zorder=0)


def _draw(pane: Axes, known: Sequence[tuple[float, Estimate]], number: int, lined: bool) -> None:
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
