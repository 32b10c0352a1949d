# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch means: the standard error of a ratio, estimated from the sampling intervals of one stretch of a run.

A share is a ratio of sums. The mean of the intervals' shares is therefore not the share of the stretch, and their
scatter is not its error. The jackknife leaves out one interval at a time and computes a pseudo-value for it; the
pseudo-values are averaged like plain batch means. Neighbouring intervals are correlated, so they hold less information
than independent ones. Their lag-1 correlation widens the error, as for a first-order autoregressive process, and lowers
the degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import fmean

from s80lab.base.student import student_t

# With fewer intervals, their scatter cannot be estimated.
FEWEST = 3
# A higher estimate of the correlation would make the error nearly infinite.
HIGHEST_LAG_1 = 0.9


@dataclass(frozen=True)
class Batches:
    """A ratio over a stretch of sampling intervals. standard_error: of the ratio, in the unit of the ratio. lag_1:
    correlation of neighbouring intervals, corrected for the bias of short series. intervals: number of intervals.
    degrees: degrees of freedom of the error, at least 1."""

    value: float
    standard_error: float
    lag_1: float
    sampling_intervals: int
    degrees: int

    @property
    def half_width(self) -> float:
        """Half-width of the 95% interval (Student t)."""
        return student_t(self.degrees) * self.standard_error

    def record(self) -> dict[str, float | int]:
        """The values in the form of stats.json."""
        return {**asdict(self), "half_width": self.half_width}


def batches(value: float, without: Sequence[float]) -> Batches | None:
    """value: the ratio over the whole stretch. without: the ratios over the stretch without each of its intervals, in
    order. None for fewer than three intervals."""
    if len(without) < FEWEST:
        return None
    parts = pseudo_values(value, without)
    correlation = lag_1([parts])
    return Batches(value, standard_error(parts, correlation), correlation, len(parts), degrees(len(parts), correlation))


def pseudo_values(value: float, without: Sequence[float]) -> list[float]:
    """Jackknife pseudo-values of the intervals; their mean is the ratio, except for a small bias."""
    n = len(without)
    return [n * value - (n - 1) * less for less in without]


def lag_1(stretches: Sequence[Sequence[float]]) -> float:
    """Correlation of neighbouring values, pooled over stretches that may have different means; 0 if nothing varies.

    Deviations from the sample mean of n values bias the correlation by -(1 + 4 r) / n; this bias is corrected (Kendall,
    Biometrika 1954; Marriott and Pope, same volume).
    """
    across = within = 0.0
    for values in stretches:
        mean = fmean(values)
        deviations = [value - mean for value in values]
        across += sum(one * next_one for one, next_one in pairwise(deviations))
        within += sum(one * one for one in deviations)
    shortest = min(len(values) for values in stretches)
    if not within:
        return 0.0
    seen = across / within
    return seen + (1 + 4 * max(seen, 0.0)) / shortest


def standard_error(values: Sequence[float], correlation: float) -> float:
    """Standard error of the mean of values whose neighbours correlate. Negative correlations count as 0."""
    n, mean = len(values), fmean(values)
    independent = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1) / n)
    return independent * math.sqrt(_widening(correlation))


def degrees(intervals: int, correlation: float, means: int = 1) -> int:
    """Degrees of freedom of that error: the equivalent number of independent intervals, minus the number of means."""
    return max(1, round(intervals / _widening(correlation)) - means)


def _widening(correlation: float) -> float:
    """Variance of a mean of correlated values over that of independent ones."""
    bounded = min(max(correlation, 0.0), HIGHEST_LAG_1)
    return (1 + bounded) / (1 - bounded)
