# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of several groups: their panels find room, and none hides another's numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest

from s80lab.analysis.groups import read_groups
from s80lab.report.figures.load import latency
from s80lab.report.figures.style import columns_of, panel_each, style


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (8, 3)])
def test_no_more_panels_stand_side_by_side_than_find_room(count: int, columns: int) -> None:
    with style():
        figure, axes = panel_each(count, 2.0)
    assert len(axes) == count == sum(axis.get_visible() for axis in figure.axes)
    assert {columns_of(axis) for axis in axes} == {columns}
    assert figure.get_figheight() == 2.0 * -(-count // columns)


def test_response_times_of_unlike_groups_are_all_within_their_panels(runs: Path) -> None:
    """The axes of all panels are one; the slower group is drawn last."""
    slow = runs / "imape-1" / "transactions.json"
    load = json.loads(slow.read_text())
    for entry in load["transactions"].values():
        entry["histogram"] = [[upper * 1000, count] for upper, count in entry["histogram"]]
    slow.write_text(json.dumps(load))
    groups = read_groups([runs / "imapb-1", runs / "imape-1"])
    with style():
        figure = latency(groups)
    lowest, highest = figure.axes[0].get_xlim()
    for axis in figure.axes:
        assert axis.get_xlim() == (lowest, highest)
        drawn = numpy.concatenate([numpy.ravel(line.get_xdata()) for line in axis.lines])
        assert lowest < drawn.min() and drawn.max() < highest
