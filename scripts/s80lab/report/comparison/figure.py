# SPDX-License-Identifier: GPL-2.0-or-later
"""The figure of a comparison: the difference of each row with its interval, in percent of the first side's value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from s80lab.analysis.comparison.contrast import Comparison, Contrast
from s80lab.report.figures.style import GROUP_COLOURS, QUIET, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW_IN = 0.26
_MARGIN_IN = 1.0
CAPTION = (
    "Difference of each row in percent of the first design's value, with its 95% interval. Filled markers: the verdict "
    "is higher or lower. Rows in grey are not tested. Rows without a value on the first side are left out."
)


def differences_figure(comparisons: Sequence[Comparison]) -> Figure:
    """One line per row of the comparisons; one colour per design. Several designs have the tested rows only."""
    several = len(comparisons) > 1
    rows = [comparison.tested + ([] if several else comparison.further) for comparison in comparisons]
    order = {one.row.name: one.row.label for one in rows[0] if one.first}
    figure, (pane,) = panels(1, 1, _MARGIN_IN + _ROW_IN * len(order) * max(1, len(comparisons) ** 0.5))
    names = list(order)
    for number, of_comparison in enumerate(rows):
        shift = (number + 0.5) / len(comparisons) - 0.5
        for one in of_comparison:
            if one.first and one.row.name in order:
                _draw(pane, one, names.index(one.row.name) + 0.7 * shift, GROUP_COLOURS[number % len(GROUP_COLOURS)])
    pane.axvline(0, color=QUIET, linewidth=0.8)
    pane.set_yticks(range(len(names)), list(order.values()))
    pane.set_ylim(len(names) - 0.4, -0.6)
    pane.set_xlabel("difference, percent of the first design's value")
    pane.grid(axis="x")
    if several:
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], color=GROUP_COLOURS[number % len(GROUP_COLOURS)], marker="o", label=comparison.second.label)
            for number, comparison in enumerate(comparisons)
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2, frameon=False, borderpad=0)
    return figure


def _draw(pane: Axes, one: Contrast, height: float, colour: str) -> None:
    scale = 100 / abs(one.first)
    half = one.difference.half_width
    tested = one.corrected is not None
    pane.errorbar(
        [one.difference.estimate * scale],
        [height],
        xerr=None if half is None else [half * scale],
        fmt="o",
        color=colour if tested else QUIET,
        markerfacecolor=(colour if tested else QUIET) if one.verdict in ("higher", "lower") else "none",
        elinewidth=1.2,
        capsize=2.5,
        markersize=5,
    )
