# SPDX-License-Identifier: GPL-2.0-or-later
"""The warm-up curve: cache statistics from the first instruction of the mix to the last measured instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from statistics import median
from typing import Any

from s80lab.analysis.groups import NOT_WARM, Group, Run
from s80lab.report.figures.chart import (
    WIDTH_PX,
    Scale,
    draw_legend,
    draw_x_axis,
    draw_y_axis,
    percent,
    plain,
    text_px,
    titled,
)
from s80lab.report.figures.drawing import SMALL_PX, Drawing
from s80lab.report.figures.registry import picture
from s80lab.report.figures.style import GROUP_COLOURS, QUIET

_PANELS = {
    "memory_share": "Share of L2 misses serviced by memory",
    "e_share": "E share (E fills, of all fills)",
    "mpki": "L2 misses per 1000 instructions",
}
_HEIGHT_PX, _LEFT_PX, _EDGE_PX = 130, 40, 8

SamplingInterval = Mapping[str, Any]


@picture(
    "Warm-up",
    "One point per sampling interval since the start of the mix, one line per seed. Faint lines: warm-up. "
    "Strong lines: measured region. The grey band begins where the first measured region of any seed begins.",
    of_caches=False,
)
def warm_up(groups: Sequence[Group]) -> list[Drawing]:
    """A chart per quantity over the same instructions; one line per seed, faint until its measured region starts."""
    return [_panel(groups, quantity, title) for quantity, title in _PANELS.items()]


def _panel(groups: Sequence[Group], quantity: str, title: str) -> Drawing:
    chart, y = titled(title)
    colours = dict(zip((group.label for group in groups), cycle(GROUP_COLOURS), strict=False))
    words = {group.label: group.label if group.warm else f"{group.label}, {NOT_WARM}" for group in groups}
    top = draw_legend(chart, y, {colours[label]: text for label, text in words.items()}) + 4
    bottom = top + _HEIGHT_PX
    runs = [(run, colours[group.label]) for group in groups for run in group.runs]
    intervals = [_of_usual_length(run.stats["sampling_intervals"]) for run, _ in runs]
    points = [[(_middle(one), one[quantity]) for one in of_run if one[quantity] is not None] for of_run in intervals]
    xs = [x for of_run in points for x, _ in of_run]
    across = Scale(0.0, max(xs, default=1.0), _LEFT_PX, WIDTH_PX - _EDGE_PX)
    highest = max((value for of_run in points for _, value in of_run), default=1.0) or 1.0
    up = Scale(0.0, 1.05 * highest, bottom, top)
    draw_y_axis(chart, up, _LEFT_PX, WIDTH_PX - _EDGE_PX, plain if quantity == "mpki" else percent)
    begin = min(_measured_from(run) for run, _ in runs)
    band = across.px(min(begin, across.high))
    chart.box(band, top, WIDTH_PX - _EDGE_PX - band, _HEIGHT_PX, fill=QUIET, opacity=0.13, frame=False)
    for (_, colour), of_run, shown in zip(runs, intervals, points, strict=True):
        warming = sum(one["phase"] == "warm-up" and one[quantity] is not None for one in of_run)
        places = [(across.px(x), up.px(value)) for x, value in shown]
        for part, opacity in ((places[:warming], 0.35), (places[max(0, warming - 1) :], 0.95)):
            if part:
                chart.curve(part, colour, opacity=opacity)
        for number, (x, height) in enumerate(places):
            chart.dot(x, height, 1.6, colour, 0.35 if number < warming else 0.95)
    if band + text_px("measured", SMALL_PX) < WIDTH_PX - _EDGE_PX:
        chart.text(band + 3, bottom - 4, "measured", small=True)
    draw_x_axis(chart, across, top, bottom, plain, "instructions since the start of the mix, 10⁹", 5)
    return chart


def _of_usual_length(intervals: Sequence[SamplingInterval]) -> list[SamplingInterval]:
    """The intervals without the short one at the end of a warm-up, which has too few misses for a point."""
    usual = median(interval["instructions"] for interval in intervals)
    return [
        interval for interval in intervals if interval["instructions"] >= usual / 2 or interval["phase"] == "measured"
    ]


def _middle(interval: SamplingInterval) -> float:
    return float(interval["end_instructions"] - interval["instructions"] / 2) / 1e9


def _measured_from(run: Run) -> float:
    """The instructions before the measured region, in 10⁹."""
    first = next(interval for interval in run.stats["sampling_intervals"] if interval["phase"] == "measured")
    return float(first["end_instructions"] - first["instructions"]) / 1e9
