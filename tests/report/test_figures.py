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
from s80lab.report.write import write_experiment_report


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


def drawn_again(runs: list[Path], folder: Path) -> list[str]:
    """The figures of the report that a second call draws: it overwrites a mark in the others' files."""
    for file in (folder / "figures").iterdir():
        file.write_text(file.read_text().replace("</svg>", "<!--kept--></svg>"))
    write_experiment_report("report", runs, folder)
    return sorted(file.stem for file in (folder / "figures").iterdir() if "<!--kept-->" not in file.read_text())


def test_figures_are_drawn_again_only_if_their_numbers_have_changed(runs: Path, tmp_path: Path) -> None:
    both = [runs / "imape-1", runs / "imape-2"]
    first = write_experiment_report("report", both, tmp_path).read_bytes()
    names = sorted(file.stem for file in (tmp_path / "figures").iterdir())
    assert write_experiment_report("report", both, tmp_path).read_bytes() == first
    assert drawn_again(both, tmp_path) == []
    assert drawn_again(both[:1], tmp_path) == names, "other runs"
    stats = both[0] / "stats.json"
    stats.write_text(stats.read_text().replace('"e_share": 0.', '"e_share": 0.1'))
    assert drawn_again(both[:1], tmp_path) == names, "another number"
    (tmp_path / "figures" / "cpi.svg").unlink()
    assert drawn_again(both[:1], tmp_path) == names, "a missing file"
