# SPDX-License-Identifier: GPL-2.0-or-later
"""Intervals of runs from several boots: the boot is the unit, and reports state boots and seeds. Student's t
distribution for any number of degrees of freedom."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.analysis.comparison.sides import of_row, run, side

from s80lab.analysis.comparison.contrast import Comparison
from s80lab.analysis.groups import Group, Run
from s80lab.analysis.interval import estimate
from s80lab.analysis.sweep import ratio_of
from s80lab.base.student import student_t, t_quantile, tail_probability
from s80lab.report.seeds import averaged_text, named_runs_text, seeds_text, units_text
from s80lab.report.tables import comparison_note

MPKI = "l2_mpki.all"
BOOTS = {"b1": [0.50, 0.52, 0.54], "b2": [0.60], "b3": [0.70, 0.72]}


def of_boot(boot: int, seed: int, metrics: dict[str, float | None], design: str = "b") -> Run:
    """A run of the boot with this number."""
    made = run(f"{design}{boot}", seed, metrics)
    return replace(made, manifest={**made.manifest, "boot": boot})


def test_estimate_of_several_boots_is_over_the_means_of_the_boots() -> None:
    group = of_row("imapb", MPKI, BOOTS)
    # Means of the boots: 0.52, 0.60 and 0.71; their deviation is 0.09539, and t with 2 degrees of freedom 4.3027.
    found = group.estimate(MPKI)
    assert found is not None and (found.n, group.unit) == (3, "boot")
    assert found.mean == pytest.approx(0.61) and found.half_width == pytest.approx(0.23698, abs=1e-4)


def test_estimate_of_one_boot_is_over_the_seeds() -> None:
    group = of_row("imapb", MPKI, {"b1": [0.50, 0.52, 0.54]})
    assert group.estimate(MPKI) == estimate([0.50, 0.52, 0.54])
    assert (group.unit, units_text([group]), seeds_text(group, group.runs)) == ("seed", "the seeds", "1, 2, 3")


def test_estimate_without_a_value_of_one_run_is_unknown() -> None:
    group = side("imapb", {"b1": [{MPKI: 0.5}, {MPKI: None}], "b2": [{MPKI: 0.6}]})
    assert group.estimate(MPKI) is None


def test_report_and_comparison_have_the_same_values_of_a_side() -> None:
    first, second = of_row("A", MPKI, BOOTS), of_row("B", MPKI, {"b4": [0.8, 0.9], "b5": [0.7]})
    found = Comparison(first, second).contrast(lambda metrics: metrics.get(MPKI))
    assert found is not None
    for value, group in zip(found[:2], (first, second), strict=True):
        of_report = group.estimate(MPKI)
        assert of_report is not None and of_report.mean == value


def test_replays_of_several_captures_are_counted_as_seeds() -> None:
    group = of_row("imapb", MPKI, {"c1": [0.5], "c2": [0.6]}, engine="replay")
    assert (group.unit, units_text([group])) == ("seed", "the seeds")
    assert group.estimate(MPKI) == estimate([0.5, 0.6])


def test_text_of_several_boots_names_boots_and_seeds() -> None:
    places = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]
    runs = [of_boot(boot, seed, {}) for boot, seed in places]
    group = Group("imapb", tuple(runs))
    assert seeds_text(group, runs) == "boots 1, 2: seeds 1, 2; boot 3: seed 1"
    assert named_runs_text(group, runs[-1:]) == "boot 3: seed 1"
    assert comparison_note([group]) == (
        "Numbers are means over the boots ± the half-width of the 95% confidence interval (Student t). The value of a "
        "boot is the mean over its seeds."
    )
    assert averaged_text([Group("imapb", tuple(runs[::2]))]) == ""


def test_text_of_boots_with_equal_numbers_has_the_hash_of_the_boot() -> None:
    runs = [run("4c3396aa", 1, {}), run("f38600bb", 1, {})]
    assert seeds_text(Group("imapb", tuple(runs)), runs) == "boots 1 (4c3396), 1 (f38600): seed 1"


def test_units_of_groups_with_one_and_with_several_boots_are_both_named() -> None:
    groups = [of_row("A", MPKI, BOOTS), of_row("B", MPKI, {"b1": [0.5, 0.6]})]
    assert units_text(groups) == "the boots (of groups with one boot: the seeds)"


def test_ratio_of_sweep_points_pairs_equal_boots_and_seeds() -> None:
    above = Group("18", tuple(of_boot(n, 1, {MPKI: value}, "a") for n, value in ((1, 0.6), (2, 0.9), (3, 1.0))))
    below = Group("2", tuple(of_boot(n, 1, {MPKI: value}) for n, value in ((1, 0.2), (2, 0.45))))
    assert ratio_of(above, below, MPKI) == estimate([0.6 / 0.2, 0.9 / 0.45])


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
