# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts: true positions on axes, no overlapping labels, and text that can be read."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.report.audit import contrast

from s80lab.analysis.groups import read_groups
from s80lab.analysis.interval import Estimate
from s80lab.config.grid import Axis, Grid
from s80lab.report.figures.all import draw_all
from s80lab.report.figures.chart import Scale, percent, stacked_bars, text_px
from s80lab.report.figures.curves import Panel, curves_figure
from s80lab.report.figures.load import latency
from s80lab.report.figures.style import COLOURS, on, panel_each, style

SVG = "{http://www.w3.org/2000/svg}"
PHONE_PX = 400 - 2 * 16
"""A screen of 400 pixels without the margins of the page."""


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (8, 3)])
def test_no_more_panels_stand_side_by_side_than_find_room(count: int, columns: int) -> None:
    with style():
        figure, axes = panel_each(count, 2.0)
    assert len(axes) == count == sum(axis.get_visible() for axis in figure.axes)
    assert len({axis.get_position().x0 for axis in axes}) == columns
    assert figure.get_figheight() == 2.0 * -(-count // columns)


def test_response_times_of_unlike_groups_are_all_within_their_charts(runs: Path) -> None:
    """All charts have one scale; the slower group is drawn last."""
    slow = runs / "imape-1" / "transactions.json"
    load = json.loads(slow.read_text())
    for entry in load["transactions"].values():
        entry["histogram"] = [[upper * 1000, count] for upper, count in entry["histogram"]]
    slow.write_text(json.dumps(load))
    fast, slow_chart = (
        [float(dot.attrib["cx"]) for dot in ElementTree.fromstring(chart.svg()).iter(f"{SVG}circle")]
        for chart in latency(read_groups([runs / "imapb-1", runs / "imape-1"]))
    )
    assert min(fast) > 0 and max(slow_chart) < PHONE_PX
    assert max(fast) < min(slow_chart)


def test_text_of_every_chart_fits_a_phone_and_does_not_overlap(runs: Path) -> None:
    for picture in draw_all(read_groups(sorted(runs.glob("imap?-?")))):
        assert picture.parts
        for part in picture.parts:
            root = ElementTree.fromstring(part)
            assert float(root.attrib["width"]) <= PHONE_PX
            lines: dict[float, list[tuple[float, float, str]]] = {}
            for text in root.iter(f"{SVG}text"):
                size = float(text.get("font-size", root.attrib["font-size"]))
                assert size >= 11
                x, words = float(text.attrib["x"]), text.text or ""
                share = {"middle": 0.5, "end": 1.0}.get(text.get("text-anchor", ""), 0.0)
                width = 0.9 * text_px(words, size)
                begin = x - share * width
                lines.setdefault(float(text.attrib["y"]), []).append((begin, begin + width, words))
            for spans in lines.values():
                ordered = sorted(spans)
                assert ordered[0][0] >= -2 and ordered[-1][1] <= float(root.attrib["width"]) + 2, picture.name
                for first, second in itertools.pairwise(ordered):
                    assert first[1] <= second[0] + 1, (picture.name, first, second)


def test_ticks_are_round_values_at_their_true_positions() -> None:
    linear = Scale(0.0, 0.15, 0.0, 300.0)
    assert [percent(tick) for tick in linear.ticks(6)] == ["0%", "5%", "10%", "15%"]
    assert linear.px(0.05) == pytest.approx(100)
    logarithmic = Scale(1.0, 100.0, 0.0, 300.0, logarithmic=True)
    assert logarithmic.ticks(7) == [1, 2, 5, 10, 20, 50, 100]
    assert logarithmic.px(10.0) == pytest.approx(150)


def test_stacked_bar_parts_have_the_width_of_their_values() -> None:
    svg = stacked_bars("title", [("all", [0.25, 0.75])], {"memory": "memory", "M": "M"}, "share").svg()
    widths = [float(width) for width in re.findall(r'width="([0-9.]+)" height="15"', svg)]
    assert widths[1] == pytest.approx(3 * widths[0], rel=1e-4)
    assert ">25<" in svg and ">75<" in svg


@pytest.mark.parametrize("name", COLOURS)
def test_numbers_inside_bars_can_be_read(name: str) -> None:
    assert contrast(on(COLOURS[name]), COLOURS[name]) >= 4.5


def positions(values: tuple[str, ...]) -> tuple[str, list[float], list[str]]:
    """Scale, tick positions and labels of the curves over these values."""
    grid = Grid((Axis("clients", values),))
    with style():
        figure = curves_figure(
            grid, grid.points(), lambda point, metric: Estimate(float(point), None, 1), [Panel("cpi.all", "CPI")] * 2
        )
    axis = figure.axes[0]
    labels = [label.get_text() for label in axis.get_xticklabels()]
    return axis.get_xscale(), [float(tick) for tick in axis.get_xticks()], labels


def test_curves_have_true_positions() -> None:
    clients = ("10", "30", "60", "90", "120", "200")
    assert positions(clients) == ("linear", [10, 30, 60, 90, 120, 200], list(clients))
    sizes = ("512KiB", "1MiB", "2MiB", "4MiB")
    assert positions(sizes) == ("log", [2.0**power for power in (19, 20, 21, 22)], list(sizes))
    assert positions(("lru", "plru"))[:2] == ("linear", [0, 1])


def test_label_that_would_overlap_the_one_before_is_left_out() -> None:
    assert positions(("1000", "1001", "2000"))[2] == ["1000", "", "2000"]
