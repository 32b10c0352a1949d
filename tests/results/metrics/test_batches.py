# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch means: the interval holds the truth as often as it says, also where neighbouring intervals are alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from s80lab.results.metrics.batches import HIGHEST_LAG_1, Batches, batches, degrees, lag_1, standard_error
from s80lab.results.metrics.standing import HEADLINE, headline_batches
from s80lab.results.snapshots import Snapshots, without


def ratio_batches(parts: Sequence[float], wholes: Sequence[float]) -> Batches | None:
    """Batch means of sum(parts) / sum(wholes), given one count per interval. None if a divisor is 0."""
    part, whole = sum(parts), sum(wholes)
    if any(whole - one <= 0 for one in wholes):
        return None
    return batches(part / whole, [(part - p) / (whole - w) for p, w in zip(parts, wholes, strict=True)])


def correlated(n: int, correlation: float, draw: np.random.Generator) -> np.ndarray:
    values = draw.normal(size=n)
    for i in range(1, n):
        values[i] = correlation * values[i - 1] + np.sqrt(1 - correlation**2) * values[i]
    return values


def test_equal_intervals_of_a_plain_mean() -> None:
    """With equal wholes the jackknife is the textbook's mean and its standard error."""
    found = ratio_batches([10, 20, 30, 40], [100] * 4)
    assert found is not None
    assert found.value == pytest.approx(0.25)
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    widening = np.sqrt((1 + found.lag_1) / (1 - found.lag_1))
    assert found.standard_error == pytest.approx(shares.std(ddof=1) / 2 * widening)


def test_batch_ratio_is_sum_over_sum() -> None:
    found = ratio_batches([10, 90, 10], [100, 100, 1000])
    assert found is not None
    assert found.value == pytest.approx(110 / 1200)


def test_batches_of_two_intervals_or_zero_denominators_are_absent() -> None:
    assert ratio_batches([1, 2], [10, 10]) is None
    assert ratio_batches([1, 2, 3], [0, 0, 0]) is None
    assert batches(0.5, []) is None


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
def test_lag_1_is_not_biased_by_few_intervals(correlation: float) -> None:
    draw = np.random.default_rng(1)
    found = [lag_1([correlated(24, correlation, draw).tolist()]) for _ in range(1000)]
    assert np.mean(found) == pytest.approx(correlation, abs=0.05)


def test_lag_1_of_stretches_with_other_means_is_that_within_them() -> None:
    draw = np.random.default_rng(2)
    stretches = [(5 * mean + correlated(500, 0.0, draw)).tolist() for mean in range(2)]
    assert lag_1(stretches) == pytest.approx(0, abs=0.08)
    assert lag_1([[1.0, 1.0, 1.0]]) == 0


def test_correlation_widens_the_error_only_if_positive() -> None:
    values = [1.0, 2.0, 3.0, 4.0]
    assert standard_error(values, 0.5) == pytest.approx(standard_error(values, 0) * 3**0.5)
    assert standard_error(values, -0.5) == standard_error(values, 0)
    assert standard_error(values, 5.0) == standard_error(values, HIGHEST_LAG_1)
    assert [degrees(30, correlation) for correlation in (-0.5, 0.0, 0.5, 0.9)] == [29, 29, 9, 1]


@pytest.mark.parametrize(
    ("intervals", "correlation", "least"), [(8, 0.0, 0.94), (32, 0.0, 0.94), (32, 0.3, 0.92), (32, 0.5, 0.91)]
)
def test_batch_interval_covers_the_true_ratio(intervals: int, correlation: float, least: float) -> None:
    """Shares that scatter about the truth, over intervals of unequal counts of misses."""
    draw, truth, held = np.random.default_rng(3), 0.6, []
    for _ in range(1500):
        wholes = 1e5 * draw.uniform(0.6, 1.4, intervals)
        found = ratio_batches(
            (wholes * (truth + 0.03 * correlated(intervals, correlation, draw))).tolist(), wholes.tolist()
        )
        assert found is not None
        held.append(abs(found.value - truth) <= found.half_width)
    assert least < np.mean(held) < 0.98


def test_region_without_one_interval_is_the_sum_of_the_other_intervals(run_dir: Path) -> None:
    run = Snapshots.read(run_dir / "snapshots.jsonl")
    region, (first, *rest) = run.region(), run.intervals()
    less = without(region, first)
    assert less.total("l2_misses") == sum(interval.total("l2_misses") for interval in rest)
    assert less.instructions == sum(interval.instructions for interval in rest)
    assert less.clock_ns == region.clock_ns - first.clock_ns


def test_batches_of_a_run_are_about_its_own_metrics(run_dir: Path) -> None:
    stats = json.loads((run_dir / "stats.json").read_text())
    assert list(stats["batches"]) == sorted(HEADLINE)
    for name, found in stats["batches"].items():
        assert found["value"] == pytest.approx(stats["metrics"][name])
        assert found["sampling_intervals"] == 3
    found = headline_batches(Snapshots.read(run_dir / "snapshots.jsonl"), None)["e_share"]
    intervals = [
        (w.total("fills", state="E"), w.total("fills")) for w in Snapshots.read(run_dir / "snapshots.jsonl").intervals()
    ]
    by_hand = ratio_batches(*([float(pair[side]) for pair in intervals] for side in (0, 1)))
    assert found is not None and by_hand is not None
    assert found.standard_error == pytest.approx(by_hand.standard_error)
