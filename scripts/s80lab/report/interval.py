# SPDX-License-Identifier: GPL-2.0-or-later
"""Means over seeds with 95% confidence intervals (Alameldeen and Wood, HPCA 2003, say why)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from s80lab.base.student import student_t


@dataclass(frozen=True)
class Estimate:
    """Mean of n runs that differ in the seed; half_width of its interval, None for a single run."""

    mean: float
    half_width: float | None
    n: int

    def holds(self, value: float) -> bool:
        """Whether the interval holds the value; a single run has none."""
        return self.half_width is not None and abs(value - self.mean) <= self.half_width

    def overlaps(self, other: Estimate) -> bool | None:
        """Whether the intervals share a value; None where one of them has no interval."""
        if self.half_width is None or other.half_width is None:
            return None
        return abs(self.mean - other.mean) <= self.half_width + other.half_width


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """None where a run has no such value."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    n = len(known)
    half = student_t(n - 1) * stdev(known) / math.sqrt(n) if n > 1 else None
    return Estimate(fmean(known), half, n)
