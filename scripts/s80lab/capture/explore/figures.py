# SPDX-License-Identifier: GPL-2.0-or-later
"""The curves of an exploration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from s80lab.capture.explore.grid import Point
from s80lab.capture.explore.table import value
from s80lab.config.axes import Axis
from s80lab.report.data import Run
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


def curves_figure(axes: Sequence[Axis], points: Sequence[Point], runs: Sequence[Sequence[Run]]) -> Figure:
    """The curves of an exploration: six panels over one axis. runs: for each point one run per capture."""
    return curves.curves_figure(
        axes,
        [point.values for point in points],
        lambda point, metric: value(runs[point], metric),
        _PANELS,
    )
