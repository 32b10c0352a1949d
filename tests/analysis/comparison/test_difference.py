# SPDX-License-Identifier: GPL-2.0-or-later
"""Differences of two samples and of pairs, against published examples."""

from __future__ import annotations

import pytest

from s80lab.analysis.comparison.contrast import corrected
from s80lab.analysis.comparison.difference import MOST, Difference, detectable, needed, of_pairs, of_samples

# Extra hours of sleep with two drugs, ten patients (Student, The Probable Error of a Mean, Biometrika 6, 1908; the data
# set `sleep` of R). R prints for t.test(): t = -1.8608, df = 17.776, p-value = 0.07939, interval -3.3654832 to
# 0.2054832; for paired = TRUE: t = -4.0621, df = 9, p-value = 0.002833, interval -2.4598858 to -0.7001142.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def interval(difference: Difference) -> tuple[float, float]:
    assert difference.half_width is not None
    return difference.estimate - difference.half_width, difference.estimate + difference.half_width


def test_samples_of_students_example_have_the_published_interval() -> None:
    found = of_samples(FIRST, SECOND)
    assert found.estimate == pytest.approx(1.58)
    assert found.estimate / found.error == pytest.approx(1.8608, abs=5e-5)
    assert found.degrees == pytest.approx(17.776, abs=5e-4)
    assert found.probability == pytest.approx(0.07939, abs=5e-6)
    assert interval(found) == pytest.approx((-0.2054832, 3.3654832), abs=5e-7)


def test_pairs_of_students_example_have_the_published_interval() -> None:
    found = of_pairs(FIRST, SECOND)
    assert found.estimate / found.error == pytest.approx(4.0621, abs=5e-5)
    assert found.degrees == 9
    assert found.probability == pytest.approx(0.002833, abs=5e-7)
    assert interval(found) == pytest.approx((0.7001142, 2.4598858), abs=5e-7)


def test_samples_exchanged_give_the_negative_difference() -> None:
    one, two = of_samples(FIRST, SECOND), of_samples(SECOND, FIRST)
    assert two.estimate == -one.estimate and two.probability == one.probability


def test_unequal_samples_have_at_most_twice_the_degrees_of_the_smaller() -> None:
    small, large = [1.0, 1.1, 0.9], [1.0, 3.0, -1.0, 2.0, 0.0, 5.0, -3.0, 1.5, 0.5, 1.0]
    # Satterthwaite's approximation alone gives 9.1: nearly the whole variance is that of the large sample.
    assert of_samples(small, large).degrees == 4


def test_single_observation_on_a_side_gives_no_interval() -> None:
    found = of_samples([0.5], [0.6, 0.7, 0.8])
    assert found.estimate == pytest.approx(0.2)
    assert (found.half_width, found.probability) == (None, None)
    assert detectable(found, 5) is None and needed(found, 0.01, 5) is None


def test_single_pair_gives_no_interval() -> None:
    found = of_pairs([0.5], [0.6])
    assert (found.half_width, found.probability) == (None, None)


def test_equal_values_give_no_difference_with_certainty() -> None:
    found = of_samples([0.3, 0.3, 0.3], [0.3, 0.3])
    assert (found.estimate, found.half_width, found.probability) == (0.0, 0.0, 1.0)
    assert detectable(found, 5) == 0.0 and needed(found, 0.01, 5) == 2


def test_values_without_spread_that_differ_are_different() -> None:
    found = of_pairs([0.25, 0.5], [0.0, 0.25])
    assert (found.estimate, found.half_width, found.probability) == (-0.25, 0.0, 0.0)


# The example of the article on Holm's method in Wikipedia, and R's p.adjust(c(.01, .04, .03, .005)).
def test_corrected_probabilities_are_those_of_the_published_example() -> None:
    assert corrected([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_corrected_probability_is_at_most_one() -> None:
    assert corrected([0.9, 0.5, 0.4]) == pytest.approx([1.0, 1.0, 1.0])


def test_corrected_probabilities_of_no_rows_are_none() -> None:
    assert corrected([]) == []


# R: power.t.test(delta = 1, sd = 1, power = 0.8) gives n = 16.71; power.t.test(delta = 0.5, sd = 1, power = 0.8) 63.77.
@pytest.mark.parametrize(("delta", "expected"), [(1.0, 17), (0.5, 64)])
def test_needed_replications_of_two_samples_are_those_of_the_power_of_a_t_test(delta: float, expected: int) -> None:
    assert needed(Difference(0.0, (1.0, 1.0), (3, 3)), delta, 1) == expected


# R: power.t.test(delta = 1, sd = 1, power = 0.8, type = "paired") gives n = 9.94.
def test_needed_pairs_are_those_of_the_power_of_a_paired_test() -> None:
    assert needed(Difference(0.0, (1.0,), (3,)), 1.0, 1) == 10


# R: power.t.test(delta = 1, sd = 1, sig.level = 0.01, power = 0.8) gives n = 24.6.
def test_needed_replications_grow_with_the_number_of_rows() -> None:
    difference = Difference(0.0, (1.0, 1.0), (3, 3))
    assert needed(difference, 1.0, 1) == 17 and needed(difference, 1.0, 5) == 25


def test_needed_replications_beyond_the_limit_are_unknown() -> None:
    difference = Difference(0.0, (1.0, 1.0), (3, 3))
    assert needed(difference, 0.01, 5) is None
    smallest = detectable(difference.with_count(MOST), 5)
    assert smallest is not None and needed(difference, smallest, 5) == MOST


def test_detectable_difference_of_the_needed_replications_is_the_wanted_one() -> None:
    difference = Difference(0.0, (2.0, 3.0), (4, 4))
    count = needed(difference, 1.5, 5)
    assert count is not None
    below, enough = (detectable(difference.with_count(number), 5) for number in (count - 1, count))
    assert below is not None and enough is not None and enough <= 1.5 < below
