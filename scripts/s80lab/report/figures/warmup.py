# SPDX-License-Identifier: GPL-2.0-or-later
"""The warm-up curve: cache statistics from the first instruction of the mix to the last measured instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from statistics import median
from typing import TYPE_CHECKING, Any

from s80lab.analysis.groups import NOT_WARM, Group, Run
from s80lab.report.figures.registry import picture
from s80lab.report.figures.style import GROUP_COLOURS, INK, QUIET, label_lines, panels, percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS = {
    "memory_share": "share of L2 misses serviced by memory",
    "e_share": "E share (E fills, of all fills)",
    "mpki": "L2 misses per 1000 instructions",
}

Window = Mapping[str, Any]


@picture(
    "warm_up",
    "Warm-up",
    "One point per sampling interval since the start of the mix, one line per seed. Faint lines: warm-up. "
    "Strong lines: measured region. The grey band begins where the first measured region of any seed begins.",
    of_caches=False,
)
def warm_up(groups: Sequence[Group]) -> Figure:
    """Three panels over the same instructions; one line per seed, faint until its measured region starts."""
    figure, axes = panels(len(_PANELS), 1, 5.2)
    for axis, (quantity, title) in zip(axes, _PANELS.items(), strict=True):
        ends = []
        for group, colour in zip(groups, cycle(GROUP_COLOURS), strict=False):
            for run in group.runs:
                windows = _of_usual_length(run.stats["windows"])
                warming = [window for window in windows if window["phase"] == "warm-up"]
                _line(axis, warming, quantity, colour, 0.3)
                _line(axis, [*warming[-1:], *windows[len(warming) :]], quantity, colour, 0.9)
            ends.append((_last(group.runs[0], quantity), group, colour))
        _name_lines(axis, ends)
        axis.set_title(title)
        axis.grid(axis="y")
        axis.set_ylim(bottom=0)
        if quantity != "mpki":
            percent_axis(axis, "", "y")
    spans = [_measured(run) for group in groups for run in group.runs]
    begin, end = min(begin for begin, _ in spans), max(end for _, end in spans)
    for axis in axes:
        axis.axvspan(begin, end, color=QUIET, alpha=0.13, linewidth=0)
    axes[0].text(
        begin, 0.04, " first measured region starts", transform=axes[0].get_xaxis_transform(), color=INK, fontsize=8
    )
    axes[-1].set_xlabel("instructions since the start of the mix, 10⁹")
    return figure


def _of_usual_length(windows: Sequence[Window]) -> list[Window]:
    """The intervals without the short one at the end of a warm-up, which has too few misses for a point."""
    usual = median(window["instructions"] for window in windows)
    return [window for window in windows if window["instructions"] >= usual / 2 or window["phase"] == "measured"]


def _line(axis: Axes, windows: Sequence[Window], quantity: str, colour: str, alpha: float) -> None:
    known = [window for window in windows if window[quantity] is not None]
    ends = [_middle(window) for window in known]
    values = [window[quantity] for window in known]
    axis.plot(ends, values, color=colour, alpha=alpha, linewidth=1.1, marker="o", markersize=1.8)


def _middle(window: Window) -> float:
    return float(window["end_instructions"] - window["instructions"] / 2) / 1e9


def _measured(run: Run) -> tuple[float, float]:
    windows = [window for window in run.stats["windows"] if window["phase"] == "measured"]
    begin = windows[0]["end_instructions"] - windows[0]["instructions"]
    return begin / 1e9, windows[-1]["end_instructions"] / 1e9


def _last(run: Run, quantity: str) -> tuple[float, float]:
    window = run.stats["windows"][-1]
    return _middle(window), window[quantity] or 0.0


def _name_lines(axis: Axes, ends: Sequence[tuple[tuple[float, float], Group, str]]) -> None:
    """Writes each group's name at the right end of its line, with a vertical shift per group."""
    ordered = sorted(ends, key=lambda end: end[0][1])
    for place, ((x, y), group, colour) in enumerate(ordered):
        words = label_lines(group.label if group.warm else f"{group.label}, {NOT_WARM}")
        shift = (place - (len(ordered) - 1) / 2) * 11
        axis.annotate(words, (x, y), (7, shift), textcoords="offset points", color=colour, va="center", fontsize=8.5)
