# SPDX-License-Identifier: GPL-2.0-or-later
"""The difference of two means with its confidence interval, from independent samples or from pairs, and the number of
further replications that would show a difference.

Independent samples: Welch's t (B. L. Welch, Biometrika 34, 1947, pages 28 to 35), which does not assume equal
variances. Its degrees of freedom are the approximation of Satterthwaite (Biometrics Bulletin 2, 1946, pages 110 to
114), but at most twice those of the smaller sample. Without this limit, the test is too liberal if the samples have
different sizes and the small one happens to have a small variance: in simulations with 2 and 6, or 3 and 10
observations from one normal distribution and six rows, 10% of the comparisons showed a difference at a level of 5%.
With the limit it is 3% at most. The limit does not protect against samples that differ much in both size and variance
(3 observations with twice the standard deviation of 10 others: 9%); equal sizes do.

Pairs: Student's t of the differences within the pairs (G. W. Snedecor and W. G. Cochran, Statistical Methods, 8th
edition 1989, section 6.3).

Further replications: the usual sample size of a t test (D. C. Montgomery, Design and Analysis of Experiments, 8th
edition 2013, section 2.4.2). A difference is found with probability POWER if it is at least (t1 + t2) standard errors.
t1 is the two-sided quantile at the level of the test, t2 the one-sided quantile at POWER. The standard deviations are
those of the existing runs, so the number is an estimate, and a rough one if there are few runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from s80lab.base.student import CONFIDENCE, t_quantile, tail_probability


@dataclass(frozen=True)
class Difference:
    """The mean of the second sample minus the mean of the first, or the mean difference of pairs.

    deviations: the standard deviation of each sample, or the one of the differences of the pairs; 0 for a sample of one
    observation, whose deviation is unknown.
    counts: the number of observations in each sample, or the number of pairs.
    """

    estimate: float
    deviations: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def has_interval(self) -> bool:
        """Whether each sample has at least two observations."""
        return min(self.counts) > 1

    @property
    def error(self) -> float:
        """The standard error of the estimate."""
        return math.sqrt(sum(self._variances))

    @property
    def degrees(self) -> float:
        """The degrees of freedom. For pairs: one less than the number of pairs."""
        most = len(self.counts) * (min(self.counts) - 1)
        total = sum(self._variances)
        if not total:
            return most
        parts = zip(self._variances, self.counts, strict=True)
        return min(most, total**2 / sum(variance**2 / (count - 1) for variance, count in parts))

    @property
    def half_width(self) -> float | None:
        """Half of the width of the 95% interval; None without an interval."""
        if not self.has_interval:
            return None
        return t_quantile(1 - CONFIDENCE, self.degrees) * self.error if self.error else 0.0

    @property
    def probability(self) -> float | None:
        """The two-sided p-value of the hypothesis that the true difference is 0; None without an interval."""
        if not self.has_interval:
            return None
        if not self.error:
            return 0.0 if self.estimate else 1.0
        return tail_probability(self.estimate / self.error, self.degrees)

    def with_count(self, count: int) -> Difference:
        """The same deviations with another number of observations in each sample."""
        return replace(self, counts=(count,) * len(self.counts))

    @property
    def _variances(self) -> list[float]:
        """The variances of the means of the samples."""
        return [deviation**2 / count for deviation, count in zip(self.deviations, self.counts, strict=True)]


def of_samples(first: Sequence[float], second: Sequence[float]) -> Difference:
    """The difference of two independent samples, second minus first. Each has at least one observation."""
    deviations = tuple(stdev(sample) if len(sample) > 1 else 0.0 for sample in (first, second))
    return Difference(fmean(second) - fmean(first), deviations, (len(first), len(second)))


def of_pairs(first: Sequence[float], second: Sequence[float]) -> Difference:
    """The mean difference of pairs, second minus first. Both sequences have the order of the pairs."""
    found = [after - before for before, after in zip(first, second, strict=True)]
    return Difference(fmean(found), (stdev(found) if len(found) > 1 else 0.0,), (len(found),))


POWER = 0.8
MOST = 1000
"""Largest number of replications a side that is searched."""


def detectable(difference: Difference, rows: int) -> float | None:
    """The smallest true difference that runs like these show with probability POWER; None without an interval.

    rows: number of rows that are tested; the level of each is divided by it.
    """
    if not difference.has_interval:
        return None
    if not difference.error:
        return 0.0
    degrees = difference.degrees
    quantiles = t_quantile((1 - CONFIDENCE) / rows, degrees) + t_quantile(2 * (1 - POWER), degrees)
    return quantiles * difference.error


def needed(difference: Difference, wanted: float, rows: int) -> int | None:
    """The number of replications a side that show a difference of size `wanted`; None for more than MOST, and without
    an interval.

    rows: as in `detectable`.
    """
    if not difference.has_interval:
        return None
    low, high = 1, 2
    while not _shows(difference, high, wanted, rows):
        if high >= MOST:
            return None
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _shows(difference, middle, wanted, rows) else (middle, high)
    return high


def _shows(difference: Difference, count: int, wanted: float, rows: int) -> bool:
    found = detectable(difference.with_count(count), rows)
    return found is not None and found <= wanted
