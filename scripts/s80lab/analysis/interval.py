# SPDX-License-Identifier: GPL-2.0-or-later
"""Means over seeds with 95% confidence intervals. Alameldeen and Wood (HPCA 2003) explain why one run is not enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from s80lab.base.student import student_t


@dataclass(frozen=True)
class Estimate:
    """Mean of n runs that differ in the seed, and the half-width of its interval (None for a single run)."""

    mean: float
    half_width: float | None
    n: int

    def holds(self, value: float) -> bool:
        """Whether the interval contains the value; False for a single run, which has no interval."""
        return self.half_width is not None and abs(value - self.mean) <= self.half_width

    def overlaps(self, other: Estimate) -> bool | None:
        """Whether the two intervals overlap; None if either estimate has no interval."""
        if self.half_width is None or other.half_width is None:
            return None
        return abs(self.mean - other.mean) <= self.half_width + other.half_width


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """The mean of the values with its interval; None if there are no values or one is None."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    n = len(known)
    half = student_t(n - 1) * stdev(known) / math.sqrt(n) if n > 1 else None
    return Estimate(fmean(known), half, n)
