# SPDX-License-Identifier: GPL-2.0-or-later
"""Histograms in the load generator's form: counts by the upper bound of each bucket."""

from __future__ import annotations

from collections.abc import Mapping


def quantile(buckets: Mapping[int, int], share: float) -> int:
    """The smallest bucket bound that at least a share of the values do not exceed; 0 for an empty histogram."""
    needed = share * sum(buckets.values())
    seen = 0
    for upper in sorted(buckets):
        seen += buckets[upper]
        if seen >= needed:
            return upper
    return 0
