# SPDX-License-Identifier: GPL-2.0-or-later
"""Correction of p-values if one comparison makes several tests.

S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979, pages 65
to 70. The probability that a comparison calls any equal row different is at most the level, whatever the dependence
between the rows; shares of miss sources depend on each other, because their sum is 1.
"""

from __future__ import annotations

from collections.abc import Sequence


def corrected(probabilities: Sequence[float]) -> list[float]:
    """The corrected p-values, in the order given: the smallest of n times n, the next times n - 1, and so on.

    A corrected value is not smaller than that of a smaller p-value, and at most 1.
    """
    order = sorted(range(len(probabilities)), key=lambda place: probabilities[place])
    found = [0.0] * len(probabilities)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * probabilities[place]))
        found[place] = largest
    return found
