# SPDX-License-Identifier: GPL-2.0-or-later
"""The scatter plot of an exploration: one point per design, and the Pareto front of two quantities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s80lab.report.exploration.quantities import Scatter
from s80lab.report.figures.style import GROUP_COLOURS, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
