# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of the load: response times, executed mix, utilisation, busy cores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from s80lab.analysis.groups import Group
from s80lab.analysis.transactions import Type, types
from s80lab.report.figures.caches import panel_title
from s80lab.report.figures.registry import picture
from s80lab.report.figures.style import (
    COLOURS,
    GROUP_COLOURS,
    INK,
    QUIET,
    columns_of,
    key,
    label_lines,
    panel_each,
    panels,
    percent_axis,
    stacked,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Ticks of a logarithmic axis, by the number of panels in a row.
MOST_TICKS = {1: 7, 2: 7, 3: 4}
_SHADES = (1.0, 0.75, 0.5, 0.3)


@picture(
    "latency",
    "Response times",
    "Simulated response time by transaction type, with the number of transactions in parentheses. The dots are the "
    "median, the 90th, 95th and 99th percentile.",
    of_load=True,
)
def latency(groups: Sequence[Group]) -> Figure:
    """One row per type: a line from the median to the 99th percentile, with a dot at each quantile."""
    figure, axes = panel_each(len(groups), 3.2)
    for axis, group, colour in zip(axes, groups, cycle(GROUP_COLOURS), strict=False):
        found = types(group)
        places = range(len(found) - 1, -1, -1)
        for place, one in zip(places, found, strict=True):
            if not one.quantiles_ms[0]:
                continue
            axis.plot([one.quantiles_ms[0], one.quantiles_ms[-1]], [place, place], color=colour, linewidth=1)
            for value, shade in zip(one.quantiles_ms, _SHADES, strict=True):
                axis.plot(value, place, "o", color=colour, alpha=shade, markersize=5, markeredgewidth=0)
        axis.set_yticks(list(places), [f"{one.name} ({one.count})" for one in found])
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(-0.7, len(found) - 0.3)
        if any(one.quantiles_ms[0] for one in found):
            axis.set_xscale("log")
            if columns_of(axis) < len(MOST_TICKS):
                _name_quantiles(axis, found)
        axis.grid(axis="x")
        axis.set_xlabel("response time, ms (simulated)")
        axis.set_title(panel_title(group))
    for axis in axes:  # their limits are one another's: once all have their points
        if axis.get_xscale() == "log":
            _plain_log_ticks(axis)
    return figure


@picture(
    "executed_mix",
    "Executed transaction mix",
    "Share of each transaction type: as executed (bars), in Table 1 of Koka and Lipasti, and as the load "
    "generator's mix implies (expected).",
    of_caches=False,
    of_load=True,
)
def executed_mix(groups: Sequence[Group]) -> Figure:
    """One row per type: a bar for the executed share, marks for Table 1 and for the expected share."""
    figure, axes = panel_each(len(groups), 3.3)
    for axis, group, colour in zip(axes, groups, cycle(GROUP_COLOURS), strict=False):
        found = types(group)
        places = list(range(len(found) - 1, -1, -1))
        axis.barh(places, [one.share for one in found], height=0.6, color=colour, alpha=0.55, label="executed")
        table_1 = [(one.table_1, place) for one, place in zip(found, places, strict=True) if one.table_1]
        chain = [(one.expected, place) for one, place in zip(found, places, strict=True) if one.expected]
        if table_1:
            axis.plot(*_columns(table_1), "|", color=INK, markersize=11, markeredgewidth=1.6, label="Table 1")
        axis.plot(*_columns(chain), "o", color=COLOURS["O"], markersize=5, label="expected")
        axis.set_yticks(places, [one.name for one in found])
        axis.tick_params(axis="y", length=0)
        axis.grid(axis="x")
        percent_axis(axis, "transactions")
        axis.set_title(panel_title(group, of_caches=False))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3, frameon=False, borderpad=0)
    return figure


@picture(
    "utilisation",
    "Utilisation",
    "Cycles of all cores: user code, kernel code, idle. Figure 4 of Koka and Lipasti has the same three parts.",
    of_caches=False,
)
def utilisation(groups: Sequence[Group]) -> Figure:
    rows = []
    for group in groups:
        busy, kernel = group.mean("utilisation"), group.mean("kernel_share.cycles")
        rows.append((label_lines(group.label), [busy * (1 - kernel), busy * kernel, max(0.0, 1 - busy)]))
    figure, (axis,) = panels(1, 1, 1.1 + 0.36 * len(rows))
    parts = {"E": "user", "M": "kernel", "memory": "idle"}
    stacked(axis, rows, list(parts), 100)
    percent_axis(axis, "cycles of all cores")
    key(figure, list(parts.items()))
    return figure


@picture(
    "busy",
    "Busy cores",
    "Busy cycles of each core as a share of the measured region, mean over the seeds. The thin lines reach "
    "from the lowest to the highest seed; the dashed line is 50%.",
)
def busy(groups: Sequence[Group]) -> Figure:
    """One bar per core; its height is the mean over the seeds."""
    figure, axes = panel_each(len(groups), 2.3)
    for axis, group, colour in zip(axes, groups, cycle(GROUP_COLOURS), strict=False):
        cores = sorted(name for name in group.runs[0].metrics if name.startswith("busy_share."))
        values = [[run.metrics[core] or 0.0 for run in group.runs] for core in cores]
        means = [sum(of_core) / len(of_core) for of_core in values]
        axis.bar(range(len(cores)), means, width=0.72, color=colour, alpha=0.75, linewidth=0)
        if len(group.runs) > 1:
            axis.vlines(range(len(cores)), [min(v) for v in values], [max(v) for v in values], color=INK, linewidth=0.8)
        axis.axhline(0.5, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)))
        axis.set_ylim(0, max(1.0, *means))
        axis.set_xticks(range(len(cores)))
        axis.tick_params(axis="x", length=0, labelsize=7.5)
        axis.set_xlabel("core")
        percent_axis(axis, "", "y")
        axis.set_ylabel("busy")
        axis.set_title(panel_title(group))
    return figure


def _plain_log_ticks(axis: Axes) -> None:
    """Sets ticks at 1, 2, 5, 10, ... (fewer for a wide range) instead of powers of ten."""
    from matplotlib.ticker import NullLocator

    low, high = axis.get_xlim()
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        shown = [tick for tick in ticks if low <= tick <= high]
        if len(shown) <= MOST_TICKS[columns_of(axis)]:
            break
    axis.set_xticks(shown, [f"{tick:,g}" for tick in shown])
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlim(low, high)


def _name_quantiles(axis: Axes, found: Sequence[Type]) -> None:
    """Labels the quantiles on the row with the most room, which replaces a legend."""
    roomy = max(
        (one for one in found if one.quantiles_ms[0]), key=lambda one: one.quantiles_ms[-1] / one.quantiles_ms[0]
    )
    place = len(found) - 1 - found.index(roomy)
    for value, words, side in ((roomy.quantiles_ms[0], "median", "right"), (roomy.quantiles_ms[-1], "99%", "left")):
        away = 6 if side == "left" else -6
        axis.annotate(words, (value, place), (away, 0), textcoords="offset points", ha=side, va="center", fontsize=7.5)
    axis.margins(x=0.16)


def _columns(points: Sequence[tuple[float | None, int]]) -> tuple[list[float], list[int]]:
    return [share or 0.0 for share, _ in points], [place for _, place in points]
