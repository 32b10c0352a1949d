# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of a report as drawings: axes with true positions, a legend, stacked bars.

A chart is as wide as a phone's screen. A page shows the charts of a figure beside or below each other, each in its own
size, so that text has the same size on every screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from s80lab.report.figures.drawing import LINE_PX, SMALL_PX, TEXT_PX, Drawing
from s80lab.report.figures.style import COLOURS, on

WIDTH_PX = 352
_CHARACTER, _WIDE_CHARACTER = 0.62, 0.98
"""Widths of letters of a wide type, as shares of its size."""
_WIDE = frozenset("%MW@mw")
_LABEL_LINES = 3
_BAR_PX, _ROW_PX = 15, 20
_SWATCH_PX = 10
_WIDEST_LABEL_PX = 118

Form = Callable[[float], str]


def percent(share: float) -> str:
    """A share as the text of a tick: `2.5%`."""
    return f"{round(100 * share, 6):g}%"


def plain(value: float) -> str:
    """A number as the text of a tick."""
    return f"{round(value, 9):,g}"


@dataclass(frozen=True)
class Scale:
    """Positions of values between two pixels. logarithmic: equal distances are equal factors."""

    low: float
    high: float
    first_px: float
    last_px: float
    logarithmic: bool = False

    def px(self, value: float) -> float:
        low, high, at = (math.log(one) if self.logarithmic else one for one in (self.low, self.high, value))
        return self.first_px + (at - low) / ((high - low) or 1) * (self.last_px - self.first_px)

    def ticks(self, most: int) -> list[float]:
        """At most `most` round values between the ends; two at least if that is possible."""
        return _log_ticks(self.low, self.high, most) if self.logarithmic else _linear_ticks(self.low, self.high, most)


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    span = (high - low) or 1.0
    decade = 10.0 ** math.floor(math.log10(span / most))
    step = next(factor * decade for factor in (1, 2, 5, 10, 20) if span / (factor * decade) < most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    """1, 2, 5, 10, ... or fewer of these for a wide range."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    shown: list[float] = []
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        shown = [tick for tick in ticks if low <= tick <= high]
        if len(shown) <= most:
            break
    return shown


def text_px(words: str, size: float = TEXT_PX) -> float:
    """About the width of a text."""
    return size * sum(_WIDE_CHARACTER if letter in _WIDE else _CHARACTER for letter in words)


def titled(title: str) -> tuple[Drawing, float]:
    """A new chart with its title; and the lower edge of the title."""
    chart = Drawing(WIDTH_PX)
    lines = wrap(title, int(WIDTH_PX / text_px("n", TEXT_PX * 1.06)), max_lines=_LABEL_LINES, placeholder=" ...")
    for number, line in enumerate(lines, 1):
        chart.text(0, number * LINE_PX - 3, line, bold=True)
    return chart, float(len(lines) * LINE_PX)


def draw_legend(chart: Drawing, y: float, entries: Mapping[str, str]) -> float:
    """A legend below y; returns its lower edge. entries: the words of each colour in COLOURS."""
    x = 0.0
    y += LINE_PX
    for colour, words in entries.items():
        needed = _SWATCH_PX + 4 + text_px(words, SMALL_PX) + 10
        if x and x + needed > WIDTH_PX:
            x, y = 0.0, y + LINE_PX
        chart.box(x, y - _SWATCH_PX + 1, _SWATCH_PX, _SWATCH_PX, fill=COLOURS.get(colour, colour), frame=False)
        chart.text(x + _SWATCH_PX + 4, y, words, small=True)
        x += needed
    return y + 4


def draw_x_axis(chart: Drawing, scale: Scale, top: float, bottom: float, form: Form, label: str, most: int = 6) -> None:
    """Grid lines from top to bottom with their values, and the label of the axis below them."""
    for tick in scale.ticks(most):
        x = scale.px(tick)
        chart.line(x, top, x, bottom)
        half = text_px(form(tick), SMALL_PX) / 2
        chart.text(max(half, min(x, WIDTH_PX - half)), bottom + 13, form(tick), small=True, anchor="middle")
    chart.text((scale.first_px + scale.last_px) / 2, bottom + 13 + LINE_PX, label, small=True, anchor="middle")


def draw_y_axis(chart: Drawing, scale: Scale, left: float, right: float, form: Form, most: int = 5) -> None:
    """Grid lines from left to right with their values on the left."""
    for tick in scale.ticks(most):
        y = scale.px(tick)
        chart.line(left, y, right, y)
        chart.text(left - 5, y + 4, form(tick), small=True, anchor="end")


def row_labels(labels: Sequence[str]) -> float:
    """Width of the column of labels on the left of rows; 0 if they are long and stand above the rows."""
    widest = max((text_px(label, SMALL_PX) for label in labels), default=0.0)
    return widest + 8 if widest <= _WIDEST_LABEL_PX else 0.0


def stacked_bars(
    title: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    parts: Mapping[str, str],
    axis: str,
    *,
    form: Form = percent,
    inside: Form = lambda share: f"{100 * share:.0f}",
    sums: Form | None = None,
    widest: float = 1.0,
) -> Drawing:
    """Horizontal bars, the first row on top.

    rows: label and the values of the parts. parts: for each part, its key in COLOURS and its words in the legend.
    axis: label of the x axis. form: text of its ticks. inside: text in a part that has room for the text. sums: text of
    the sum at the end of a bar. widest: value at the right end of the axis.
    """
    chart, y = titled(title)
    y = draw_legend(chart, y, parts) + 4
    left = row_labels([label for label, _ in rows])
    right = WIDTH_PX - (text_px(sums(widest), SMALL_PX) + 4 if sums else 1)
    scale = Scale(0.0, widest or 1.0, left, right)
    top = y
    for label, values in rows:
        if left:
            chart.text(left - 6, y + _BAR_PX - 3, label, small=True, anchor="end")
        else:
            for line in wrap(label, 52, max_lines=_LABEL_LINES, placeholder=" ..."):
                chart.text(0, y + SMALL_PX, line, small=True)
                y += LINE_PX - 2
        begin = 0.0
        for colour, value in zip(parts, values, strict=True):
            if value <= 0:
                continue
            x, width = scale.px(begin), scale.px(begin + value) - scale.px(begin)
            chart.box(x, y, width, _BAR_PX, fill=COLOURS[colour], frame=False)
            words = inside(value)
            if text_px(words, SMALL_PX) + 4 <= width:
                ink = on(COLOURS[colour])
                chart.text(x + width / 2, y + _BAR_PX - 4, words, small=True, anchor="middle", fill=ink)
            begin += value
        if sums:
            chart.text(scale.px(begin) + 4, y + _BAR_PX - 4, sums(begin), small=True)
        y += _ROW_PX
    draw_x_axis(chart, scale, top, y, form, axis)
    return chart
