# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of an exploration: curves over the grid, and what serviced the misses of each design."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from s80lab.analysis.comparison.rows import transfers_pki
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
