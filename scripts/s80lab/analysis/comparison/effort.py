# SPDX-License-Identifier: GPL-2.0-or-later
"""How many further replications would show a difference of a given size.

The usual sample size of a t test (D. C. Montgomery, Design and Analysis of Experiments, 8th edition 2013, section
2.4.2): a difference is found with probability POWER if it is at least (t1 + t2) standard errors. t1 is the two-sided
quantile at the level of the test, t2 the one-sided quantile at POWER. The standard deviations are those of the
existing runs, so the number is an estimate, and a rough one if there are few runs.
"""

from __future__ import annotations

from s80lab.analysis.comparison.difference import Difference
from s80lab.base.student import CONFIDENCE, t_quantile

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
