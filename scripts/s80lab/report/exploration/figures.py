# SPDX-License-Identifier: GPL-2.0-or-later
"""The curves of an exploration."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from s80lab.analysis.groups import Group
from s80lab.capture.explore.grid import Point
from s80lab.config.grid import Grid
from s80lab.report.figures import curves
from s80lab.report.figures.curves import Panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS = (
    Panel("l2_mpki.all", "L2 misses per 1000 instructions"),
    Panel("miss_source.all.memory", "Misses serviced by memory", share=True),
    Panel("e_share", "E share of the fills", share=True),
    Panel("e_to_m_share", "Silent E-to-M upgrades per E fill", share=True),
    Panel("upgrade_pki.made", "Upgrades per 1000 instructions"),
    Panel("traffic_pki.all", "Bus traffic per 1000 instructions"),
)


def curves_figure(grid: Grid, points: Sequence[Point], groups: Sequence[Group]) -> Figure:
    """The curves of an exploration: six panels over one axis. groups: one per design (table.design_groups)."""
    return curves.curves_figure(
        grid,
        [point.values for point in points],
        lambda point, metric: groups[point].estimate(metric),
        _PANELS,
    )


def lines_of(grid: Grid) -> int:
    """The number of lines in each panel: one per combination of the axes other than the x axis."""
    return prod(len(axis.values) for axis in grid.without(grid.across()).axes)
