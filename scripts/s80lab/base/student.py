# SPDX-License-Identifier: GPL-2.0-or-later
"""Quantiles of Student's t distribution, for confidence intervals of means over few values."""

from __future__ import annotations

from statistics import NormalDist

CONFIDENCE = 0.95

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
