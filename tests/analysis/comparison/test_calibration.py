# SPDX-License-Identifier: GPL-2.0-or-later
"""How often a comparison is wrong: draws with fixed seeds from known distributions, 2,000 comparisons each.

Both sides of a comparison come from one distribution. So each verdict "higher" or "lower" is false. The limit is 7% of
the verdicts of each row, and 7% of the comparisons with such a verdict in any row. Resampled runs of one design: the
share of false verdicts, and of planted differences found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.analysis.comparison.resample import calibrate
from tests.analysis.comparison.sides import TESTED, side
from tests.results.designs import starts

from s80lab.analysis.comparison.contrast import Comparison
from s80lab.analysis.groups import Group

DRAWS = 2000
LIMIT = 0.07
Draw = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]


def normal(draw: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    return draw.standard_normal(shape)


def lognormal(draw: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Skewness 1.75."""
    return draw.lognormal(0.0, 0.5, shape)


def skewed(draw: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Lognormal with skewness 1."""
    return draw.lognormal(0.0, 0.315, shape)


def exponential(draw: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Skewness 2."""
    return draw.exponential(1.0, shape)


def drawn_side(label: str, values: NDArray[np.float64], boots: str = "") -> Group:
    """values: standardised, of the shape metric x boot x seed. boots: prefix of the names of the boots."""
    metrics = 0.3 + 0.02 * values
    return side(
        label,
        {
            f"{boots or label}{boot}": [
                dict(zip(TESTED, of_run, strict=True)) for of_run in metrics[:, boot].T.tolist()
            ]
            for boot in range(metrics.shape[1])
        },
    )


def false_verdicts(make: Callable[[np.random.Generator], Comparison]) -> tuple[Counter[str], int]:
    """How many of the comparisons say that a row differs, by row; and how many say so of any row."""
    draw = np.random.default_rng(39)
    rows: Counter[str] = Counter()
    comparisons = 0
    for _ in range(DRAWS):
        found = [one.row.name for one in make(draw).tested if one.verdict in ("higher", "lower")]
        rows.update(found)
        comparisons += bool(found)
    return rows, comparisons


@pytest.mark.parametrize(
    ("distribution", "first", "second"),
    [
        *((normal, *counts) for counts in ((2, 2), (3, 3), (2, 6), (3, 10), (10, 10))),
        *((lognormal, *counts) for counts in ((3, 3), (3, 10), (10, 10))),
        *((exponential, *counts) for counts in ((3, 10), (10, 10))),
    ],
)
def test_false_verdicts_of_independent_boots_are_rare(distribution: Draw, first: int, second: int) -> None:
    rows, comparisons = false_verdicts(
        lambda draw: Comparison(
            drawn_side("A", distribution(draw, (len(TESTED), first, 1))),
            drawn_side("B", distribution(draw, (len(TESTED), second, 1))),
        )
    )
    assert max(rows.values(), default=0) <= LIMIT * DRAWS and comparisons <= LIMIT * DRAWS


@pytest.mark.parametrize(
    ("distribution", "boots"), [(normal, 2), (normal, 4), (normal, 5), (normal, 10), (lognormal, 4), (lognormal, 5)]
)
def test_false_verdicts_of_boots_in_common_are_rare(distribution: Draw, boots: int) -> None:
    """Two seeds of each boot; the boots vary 0.7 times as much as the seeds (docs/background/precision.md)."""

    def make(draw: np.random.Generator) -> Comparison:
        common = 0.7 * distribution(draw, (len(TESTED), boots, 1))
        one, two = (common + distribution(draw, (len(TESTED), boots, 2)) for _ in range(2))
        return Comparison(drawn_side("A", one, "boot"), drawn_side("B", two, "boot"))

    rows, comparisons = false_verdicts(make)
    assert max(rows.values(), default=0) <= LIMIT * DRAWS and comparisons <= LIMIT * DRAWS


def test_false_verdicts_of_boots_with_many_seeds_are_rare() -> None:
    """If seeds were taken as independent, most comparisons of three boots with six seeds each would be false."""

    def make(draw: np.random.Generator) -> Comparison:
        one, two = (2.0 * normal(draw, (len(TESTED), 3, 1)) + normal(draw, (len(TESTED), 3, 6)) for _ in range(2))
        return Comparison(drawn_side("A", one), drawn_side("B", two))

    rows, comparisons = false_verdicts(make)
    assert max(rows.values(), default=0) <= LIMIT * DRAWS and comparisons <= LIMIT * DRAWS


def test_false_verdicts_of_dependent_rows_are_rare() -> None:
    """All rows have one cause, as the shares of miss sources, whose sum is 1."""

    def make(draw: np.random.Generator) -> Comparison:
        one, two = (np.repeat(normal(draw, (1, 6, 1)), len(TESTED), axis=0) for _ in range(2))
        return Comparison(drawn_side("A", one), drawn_side("B", two))

    rows, comparisons = false_verdicts(make)
    assert max(rows.values(), default=0) <= LIMIT * DRAWS and comparisons <= LIMIT * DRAWS


def real_boots() -> NDArray[np.float64]:
    """The boots of results/reference/starts.tsv: how far each is from the mean of its workload and server, in the unit
    of the metric. Shape: metric x boot; the last metric (CPI, which the file lacks) is 0."""
    found = []
    for of_workload in starts().values():
        boots: dict[tuple[str, str], list[list[float]]] = {}
        for run in of_workload:
            values = [float(run[metric]) for metric in TESTED[:-1]]
            boots.setdefault((run["initramfs"], run["boot"]), []).append(values)
        if len(boots) > 1:
            means = np.array([np.mean(runs, axis=0) for runs in boots.values()])
            found += ((means - means.mean(axis=0)) * np.sqrt(len(boots) / (len(boots) - 1))).tolist()
    return np.vstack([np.array(found).T, np.zeros(len(found))])


@pytest.mark.parametrize("boots", [3, 4, 10])
def test_false_verdicts_of_real_boots_are_rare(boots: int) -> None:
    """The rows of one boot stay together, so they depend on each other as in real runs."""
    pool = real_boots()

    def make(draw: np.random.Generator) -> Comparison:
        one, two = (pool[:, draw.integers(0, pool.shape[1], boots)][:, :, np.newaxis] for _ in range(2))
        # drawn_side multiplies by 0.02.
        return Comparison(drawn_side("A", one / 0.02), drawn_side("B", two / 0.02))

    assert pool.shape == (5, 29)
    rows, comparisons = false_verdicts(make)
    assert max(rows.values(), default=0) <= LIMIT * DRAWS and comparisons <= LIMIT * DRAWS


@pytest.mark.parametrize("distribution", [normal, skewed])
def test_planted_difference_of_two_deviations_is_found(distribution: Draw) -> None:
    """Ten replications a side, a difference in one row of five."""
    draw = np.random.default_rng(39)
    spread = float(np.std(distribution(draw, (100_000,))))
    hits = 0
    for _ in range(DRAWS):
        one, two = (distribution(draw, (len(TESTED), 10, 1)) for _ in range(2))
        two[TESTED.index("e_share")] += 2 * spread
        comparison = Comparison(drawn_side("A", one), drawn_side("B", two))
        hits += next(found.verdict for found in comparison.tested if found.row.name == "e_share") == "higher"
    assert hits >= 0.9 * DRAWS


def test_resampling_of_eight_boots_with_three_seeds_is_calibrated() -> None:
    draw = np.random.default_rng(8)
    values = 0.7 * normal(draw, (len(TESTED), 8, 1)) + normal(draw, (len(TESTED), 8, 3))
    found = calibrate(drawn_side("imapb", values), boots=4, draws=300)
    assert found.comparisons <= 0.07 * found.draws and max(found.rows.values(), default=0) <= 0.07 * found.draws
    assert min(found.found.values()) >= 0.9 * found.draws
    assert set(found.found) == {"l2_mpki.all", "e_share", "e_to_m_share", "cpi.all"}
