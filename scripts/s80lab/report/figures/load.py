# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of the load: response times, executed mix, utilisation, busy cores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from s80lab.analysis.groups import Group
from s80lab.analysis.transactions import Type, types
from s80lab.report.figures.caches import panel_title
from s80lab.report.figures.chart import (
    WIDTH_PX,
    Scale,
    draw_legend,
    draw_x_axis,
    draw_y_axis,
    percent,
    plain,
    row_labels,
    stacked_bars,
    titled,
)
from s80lab.report.figures.drawing import SMALL_PX, Drawing
from s80lab.report.figures.registry import picture
from s80lab.report.figures.style import COLOURS, GROUP_COLOURS

_SHADES = (1.0, 0.75, 0.5, 0.3)
_ROW_PX, _EDGE_PX = 18, 8
_BUSY_PX, _LEFT_PX = 130, 40
_LEAST_LABEL_PX = 16


@picture(
    "Response times",
    "Simulated response time by transaction type, with the number of transactions in parentheses. The dots are the "
    "median, the 90th, 95th and 99th percentile, from dark to light. All groups have the same logarithmic axis.",
    of_load=True,
)
def latency(groups: Sequence[Group]) -> list[Drawing]:
    """A chart per group. One row per type: a line from the median to the 99th percentile, with a dot at each
    quantile."""
    of_groups = [types(group) for group in groups]
    known = [ms for found in of_groups for one in found if one.quantiles_ms[0] for ms in one.quantiles_ms]
    ends = (min(known), max(known)) if known else (1.0, 10.0)
    return [
        _latencies(panel_title(group), found, ends, colour)
        for group, found, colour in zip(groups, of_groups, cycle(GROUP_COLOURS), strict=False)
    ]


def _latencies(title: str, found: Sequence[Type], ends: tuple[float, float], colour: str) -> Drawing:
    chart, top = titled(title)
    labels = [f"{one.name} ({one.count})" for one in found]
    left = row_labels(labels) or WIDTH_PX / 3
    scale = Scale(*ends, left + _EDGE_PX, WIDTH_PX - _EDGE_PX, logarithmic=True)
    y = top
    for one, label in zip(found, labels, strict=True):
        y += _ROW_PX
        chart.text(left - 6, y, label, small=True, anchor="end")
        if not one.quantiles_ms[0]:
            continue
        places = [(scale.px(ms), y - 4) for ms in one.quantiles_ms]
        chart.curve([places[0], places[-1]], colour, width=1)
        for (x, height), shade in zip(places, _SHADES, strict=True):
            chart.dot(x, height, 4, colour, shade)
    draw_x_axis(chart, scale, top, y + 4, plain, "response time, ms (simulated)", 5)
    return chart


@picture(
    "Executed transaction mix",
    "Share of each transaction type: as executed (bars), in Table 1 of Koka and Lipasti, and as the load "
    "generator's mix implies (expected).",
    of_caches=False,
    of_load=True,
)
def executed_mix(groups: Sequence[Group]) -> list[Drawing]:
    """A chart per group. One row per type: a bar for the executed share, marks for Table 1 and for the expected
    share."""
    return [
        _mix(panel_title(group, of_caches=False), types(group), colour)
        for group, colour in zip(groups, cycle(GROUP_COLOURS), strict=False)
    ]


def _mix(title: str, found: Sequence[Type], colour: str) -> Drawing:
    chart, y = titled(title)
    shares = [share for one in found for share in (one.share, one.table_1, one.expected) if share is not None]
    marks = {"O": "expected"} | ({"currentColor": "Table 1"} if any(one.table_1 for one in found) else {})
    top = y = draw_legend(chart, y, {colour: "executed", **marks}) + 2
    left = row_labels([one.name for one in found]) or WIDTH_PX / 3
    scale = Scale(0.0, max(shares, default=1.0) or 1.0, left, WIDTH_PX - _EDGE_PX)
    for one in found:
        chart.text(left - 6, y + 11, one.name, small=True, anchor="end")
        chart.box(left, y + 1, scale.px(one.share) - left, 12, fill=colour, opacity=0.6, frame=False)
        if one.table_1:
            chart.box(scale.px(one.table_1) - 1, y - 1, 2, 16, fill="currentColor", frame=False)
        if one.expected:
            chart.dot(scale.px(one.expected), y + 7, 3.5, COLOURS["O"])
        y += _ROW_PX
    draw_x_axis(chart, scale, top, y, percent, "share of the transactions", 5)
    return chart


@picture(
    "Utilisation",
    "Cycles of all cores: user code, kernel code, idle. Figure 4 of Koka and Lipasti has the same three parts.",
    of_caches=False,
)
def utilisation(groups: Sequence[Group]) -> list[Drawing]:
    rows = []
    for group in groups:
        busy, kernel = group.mean("utilisation"), group.mean("kernel_share.cycles")
        rows.append((group.label, [busy * (1 - kernel), busy * kernel, max(0.0, 1 - busy)]))
    parts = {"E": "user", "M": "kernel", "memory": "idle"}
    return [stacked_bars("", rows, parts, "share of the cycles of all cores")]


@picture(
    "Busy cores",
    "Busy cycles of each core as a share of the measured region, mean over the runs. The thin lines reach "
    "from the lowest to the highest seed.",
)
def busy(groups: Sequence[Group]) -> list[Drawing]:
    """A chart per group, with one bar per core."""
    return [_busy(group, colour) for group, colour in zip(groups, cycle(GROUP_COLOURS), strict=False)]


def _busy(group: Group, colour: str) -> Drawing:
    chart, top = titled(panel_title(group))
    cores = sorted(name for name in group.runs[0].metrics if name.startswith("busy_share."))
    values = [[run.metrics[core] or 0.0 for run in group.runs] for core in cores]
    bottom = top + 8 + _BUSY_PX
    scale = Scale(0.0, max(1.0, *(max(of_core) for of_core in values)) if values else 1.0, bottom, top + 8)
    draw_y_axis(chart, scale, _LEFT_PX, WIDTH_PX, percent)
    slot = (WIDTH_PX - _LEFT_PX) / max(1, len(cores))
    every = -(-_LEAST_LABEL_PX // max(1, int(slot)))
    for core, of_core in enumerate(values):
        x, y = _LEFT_PX + (core + 0.14) * slot, scale.px(sum(of_core) / len(of_core))
        chart.box(x, y, 0.72 * slot, bottom - y, fill=colour, opacity=0.8, frame=False)
        if len(of_core) > 1:
            middle = x + 0.36 * slot
            chart.curve([(middle, scale.px(min(of_core))), (middle, scale.px(max(of_core)))], "currentColor", width=1)
        if core % every == 0:
            chart.text(x + 0.36 * slot, bottom + SMALL_PX + 2, str(core), small=True, anchor="middle")
    chart.text((_LEFT_PX + WIDTH_PX) / 2, bottom + 2 * SMALL_PX + 6, "core", small=True, anchor="middle")
    return chart
