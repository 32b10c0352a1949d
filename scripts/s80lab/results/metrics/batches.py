# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch means: what the windows of one stretch say of the precision of its ratios.

A share is a ratio of sums, so the mean of the windows' shares is not the stretch's share and their scatter is not its
error. The jackknife leaves out one window at a time; what the ratio then loses, scaled, is the window's part in it
(its pseudo-value), and the parts are averaged as plain batch means are. Neighbouring windows that resemble each other
hold less than as many independent ones: their lag-1 correlation widens the error as it does for a first-order
autoregressive process, and lowers the degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import fmean

from s80lab.base.student import student_t

# Fewer windows say nothing of their own scatter.
FEWEST = 3
# A correlation estimated beyond this would make the error as good as endless.
HIGHEST_LAG_1 = 0.9


@dataclass(frozen=True)
class Batches:
    """A ratio over a stretch of windows. standard_error: of the ratio, in its unit. lag_1: correlation of neighbouring
    windows, corrected for the bias that few windows have. degrees: of freedom of the error, at least 1."""

    value: float
    standard_error: float
    lag_1: float
    windows: int
    degrees: int

    @property
    def half_width(self) -> float:
        """Of the 95% interval (Student t)."""
        return student_t(self.degrees) * self.standard_error

    def record(self) -> dict[str, float | int]:
        """As stats.json holds it."""
        return {**asdict(self), "half_width": self.half_width}


def batches(value: float, without: Sequence[float]) -> Batches | None:
    """value: the whole stretch's; without: that of the stretch without each of its windows, in their order. None for
    fewer than three windows."""
    if len(without) < FEWEST:
        return None
    parts = pseudo_values(value, without)
    correlation = lag_1([parts])
    return Batches(value, standard_error(parts, correlation), correlation, len(parts), degrees(len(parts), correlation))


def ratio_batches(parts: Sequence[float], wholes: Sequence[float]) -> Batches | None:
    """The same for sum(parts) / sum(wholes), each a count by window. None where there is nothing to divide by."""
    part, whole = sum(parts), sum(wholes)
    if any(whole - one <= 0 for one in wholes):
        return None
    without = [(part - p) / (whole - w) for p, w in zip(parts, wholes, strict=True)]
    return batches(part / whole, without)


def pseudo_values(value: float, without: Sequence[float]) -> list[float]:
    """The windows' parts in the ratio; their mean is the ratio but for a small bias."""
    n = len(without)
    return [n * value - (n - 1) * less for less in without]


def lag_1(stretches: Sequence[Sequence[float]]) -> float:
    """Correlation of neighbours, pooled over stretches that may have different means; 0 where nothing varies.

    Deviations from the n values' own mean make it (1 + 4 r) / n too low on average, which is put back (Kendall,
    Biometrika 1954; Marriott and Pope, in the same volume).
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
    """Of the mean of values whose neighbours correlate; a negative correlation is not taken for a gain."""
    n, mean = len(values), fmean(values)
    independent = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1) / n)
    return independent * math.sqrt(_widening(correlation))


def degrees(windows: int, correlation: float, means: int = 1) -> int:
    """Of freedom of such an error: of as many independent windows as these are worth, less the means taken."""
    return max(1, round(windows / _widening(correlation)) - means)


def _widening(correlation: float) -> float:
    """Variance of a mean of correlated values over that of independent ones."""
    bounded = min(max(correlation, 0.0), HIGHEST_LAG_1)
    return (1 + bounded) / (1 - bounded)
