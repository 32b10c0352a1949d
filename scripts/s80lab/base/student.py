# SPDX-License-Identifier: GPL-2.0-or-later
"""Quantiles of Student's t distribution, for confidence intervals of means over few values."""

from __future__ import annotations

import math
from statistics import NormalDist

CONFIDENCE = 0.95
_TERMS = 60

# Two-sided 95%, for 1 to 30 degrees of freedom.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


def student_t(degrees: int) -> float:
    """The two-sided 95% quantile. Above 30 degrees of freedom: Cornish-Fisher expansion (error < 0.001)."""
    if degrees <= len(_T):
        return _T[degrees - 1]
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def tail_probability(t: float, degrees: float) -> float:
    """The probability that |T| exceeds |t|, where T has Student's t distribution.

    degrees: the degrees of freedom, any positive number. Abramowitz and Stegun, Handbook of Mathematical Functions,
    26.7.1: the probability is I_x(degrees / 2, 1 / 2) with x = degrees / (degrees + t * t). Relative error below 1e-9.
    """
    return _incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5)


def t_quantile(tail: float, degrees: float) -> float:
    """The number that |T| exceeds with probability `tail`; the inverse of tail_probability in t.

    tail: above 0 and below 1; for example 0.05 for a 95% interval.
    """
    low, high = 0.0, 1.0
    while tail_probability(high, degrees) > tail:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if tail_probability(middle, degrees) > tail else (low, middle)
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by the continued fraction 8.17.22 of the NIST Digital Library
    of Mathematical Functions.

    The fraction converges fast for x < (a + 1) / (a + b + 2); else I_x(a, b) = 1 - I_(1 - x)(b, a).
    """
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    fraction = 1.0
    for m in range(_TERMS, -1, -1):
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) if m else 0.0
        fraction = 1 + odd / fraction
        fraction = 1 + even / fraction if m else fraction
    beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp(a * math.log(x) + b * math.log1p(-x) - beta) / (a * fraction)
