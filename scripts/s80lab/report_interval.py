# SPDX-License-Identifier: GPL-2.0-or-later
"""Means over seeds with 95% confidence intervals (Alameldeen and Wood, HPCA 2003, say why)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev

CONFIDENCE = 0.95

# Student's t, two-sided 95%, for 1 to 30 degrees of freedom.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


@dataclass(frozen=True)
class Estimate:
    """Mean of n runs that differ in the seed; half_width of its interval, None for a single run."""

    mean: float
    half_width: float | None
    n: int

    def overlaps(self, other: Estimate) -> bool | None:
        """Whether the intervals share a value; None where one of them has no interval."""
        if self.half_width is None or other.half_width is None:
            return None
        return abs(self.mean - other.mean) <= self.half_width + other.half_width


def student_t(degrees: int) -> float:
    """The two-sided 95% quantile; beyond the table by the Cornish-Fisher expansion (error < 0.001)."""
    if degrees <= len(_T):
        return _T[degrees - 1]
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """None where a run has no such value."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    n = len(known)
    half = student_t(n - 1) * stdev(known) / math.sqrt(n) if n > 1 else None
    return Estimate(fmean(known), half, n)
