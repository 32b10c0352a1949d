# SPDX-License-Identifier: GPL-2.0-or-later
"""Student's t distribution for any number of degrees of freedom."""

from __future__ import annotations

import math

import pytest

from s80lab.base.student import student_t, t_quantile, tail_probability


@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, 5.0, 40.0])
def test_tail_probability_of_one_and_two_degrees_has_its_closed_form(t: float) -> None:
    assert tail_probability(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), abs=1e-12)
    assert tail_probability(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)


def test_tail_probability_of_many_degrees_is_that_of_the_normal_distribution() -> None:
    assert tail_probability(1.959964, 1e9) == pytest.approx(0.05, abs=1e-7)


def test_tail_probability_is_symmetric_in_t() -> None:
    assert tail_probability(-2.5, 3.7) == tail_probability(2.5, 3.7)


# Quantiles of the usual printed tables.
@pytest.mark.parametrize(
    ("tail", "degrees", "expected"), [(0.05, 4, 2.776), (0.01, 9, 3.250), (0.1, 15, 1.753), (0.4, 30, 0.854)]
)
def test_t_quantile_is_that_of_printed_tables(tail: float, degrees: float, expected: float) -> None:
    assert t_quantile(tail, degrees) == pytest.approx(expected, abs=0.0006)


@pytest.mark.parametrize("degrees", [1, 2, 7, 30, 31, 500])
def test_t_quantile_agrees_with_the_table_for_whole_degrees(degrees: int) -> None:
    assert t_quantile(0.05, degrees) == pytest.approx(student_t(degrees), abs=0.001)


def test_t_quantile_of_a_fraction_lies_between_its_neighbours() -> None:
    assert t_quantile(0.05, 4) < t_quantile(0.05, 3.7) < t_quantile(0.05, 3)
