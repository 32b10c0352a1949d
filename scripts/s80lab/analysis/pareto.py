# SPDX-License-Identifier: GPL-2.0-or-later
"""The Pareto front: the points that no other point beats in both of two quantities, of which less is better."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

Point = tuple[float | None, float | None]


def pareto_front(points: Sequence[Point]) -> list[int]:
    """The numbers of the points on the front, in ascending order of the first quantity.

    A point is on the front unless another point is at most as large in both quantities, and smaller in one. Equal
    points are all on the front. A point without one of the quantities (None) is not on the front.
    """
    known = sorted((x, y, number) for number, (x, y) in enumerate(points) if x is not None and y is not None)
    front: list[int] = []
    least = float("inf")
    for _, same in groupby(known, key=lambda point: point[0]):
        column = list(same)
        lowest = column[0][1]
        if lowest < least:
            front += [number for _, y, number in column if y == lowest]
            least = lowest
    return front
