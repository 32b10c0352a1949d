# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of an exploration: curves over the grid, and what serviced the misses of each design."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from s80lab.analysis.comparison.contrast import transfers_pki
from s80lab.analysis.groups import Group
from s80lab.analysis.interval import Estimate, estimate
from s80lab.capture.explore.grid import Point
from s80lab.config.grid import Grid
from s80lab.report.figures import curves
from s80lab.report.figures.caches import SOURCES
from s80lab.report.figures.chart import stacked_bars
from s80lab.report.figures.curves import Panel
from s80lab.report.figures.drawing import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure
from s80lab.report.exploration.table import Scatter
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
    rows = [(group.label, [group.mean(f"miss_source.all.{source}") for source in SOURCES]) for group in groups]
    return stacked_bars("", rows, SOURCES, "share of the L2 misses")


def _transfers(group: Group) -> Estimate | None:
    """Misses that another cache serviced, per 1000 instructions."""
    return estimate([transfers_pki(run.metrics) for run in group.runs])
