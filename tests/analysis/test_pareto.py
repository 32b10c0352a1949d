# SPDX-License-Identifier: GPL-2.0-or-later
"""The Pareto front of literal points."""

from __future__ import annotations

from s80lab.report.exploration.quantities import pareto_front


def test_front_has_the_points_that_no_other_beats() -> None:
    #  8 | .   0                 0: fewest bytes
    #  5 | .   1   2             1: beats 0 and 2
    #  3 | .           3   4     3: beats 4
    #  2 |                 5
    points = [(1.0, 8.0), (1.0, 5.0), (2.0, 5.0), (3.0, 3.0), (4.0, 3.0), (4.0, 2.0)]
    assert pareto_front(points) == [1, 3, 5]


def test_equal_points_are_all_on_the_front() -> None:
    assert pareto_front([(2.0, 2.0), (1.0, 3.0), (2.0, 2.0), (2.0, 3.0)]) == [1, 0, 2]


def test_single_best_point_is_the_whole_front() -> None:
    assert pareto_front([(5.0, 5.0), (1.0, 1.0), (1.0, 4.0), (4.0, 1.0)]) == [1]


def test_points_without_a_quantity_are_left_out() -> None:
    assert pareto_front([(None, 0.0), (1.0, None), (2.0, 2.0)]) == [2]
    assert pareto_front([]) == []
