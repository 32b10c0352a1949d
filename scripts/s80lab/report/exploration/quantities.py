# SPDX-License-Identifier: GPL-2.0-or-later
"""The quantities by which the designs of an exploration are compared in a scatter plot, and the designs on the Pareto
front of two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from s80lab.analysis.groups import Group
from s80lab.base.strict import parse_size
from s80lab.config.grid import Grid, is_number

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


L2_SIZE = "l2.size"
MIB = 1 << 20
_METRICS = {
    "traffic_pki.all": "bus transactions per 1000 instructions",
    "l2_mpki.all": "L2 misses per 1000 instructions",
    "cpi.all": "cycles per instruction",
    "upgrade_pki.made": "upgrades per 1000 instructions",
}


@dataclass(frozen=True)
class Quantity:
    """A quantity of which less is better, with its value for each design; None where a design has no value.

    doubling: whether its values are doublings, which a logarithmic axis shows at equal distances.
    """

    key: str
    title: str
    values: tuple[float | None, ...]
    doubling: bool = False


@dataclass(frozen=True)
class Scatter:
    """The quantities of an exploration; the first two are shown first. fronts: for two quantities, by their places,
    the designs on their Pareto front. If some designs are valid, invalid designs are on no front."""

    quantities: tuple[Quantity, ...]
    fronts: Mapping[tuple[int, int], list[int]]

    @property
    def front(self) -> list[int]:
        """The designs on the front of the first two quantities."""
        return self.fronts[0, 1]


def scatter_of(grid: Grid, points: Sequence[Mapping[str, str]], groups: Sequence[Group]) -> Scatter:
    """points: for each design its value on each axis of the grid. groups: one per design."""
    measured = [Quantity(metric, title, _means(groups, metric)) for metric, title in _METRICS.items()]
    traffic, misses, *others = measured
    sizes = [_axis(axis.key, points) for axis in grid.axes if len(axis.values) > 1 and all(map(is_number, axis.values))]
    first = [one for one in sizes if one.key == L2_SIZE]
    more = [one for one in sizes if one.key != L2_SIZE]
    quantities = (*first, *((misses, traffic) if first else (traffic, misses)), *others, *more)
    valid = [not group.reasons for group in groups]
    fronts = {}
    for x, y in combinations(range(len(quantities)), 2):
        pairs = zip(quantities[x].values, quantities[y].values, strict=True)
        fronts[x, y] = pareto_front(
            [pair if is_valid or not any(valid) else (None, None) for pair, is_valid in zip(pairs, valid, strict=True)]
        )
    return Scatter(quantities, fronts)


def _means(groups: Sequence[Group], metric: str) -> tuple[float | None, ...]:
    found = (group.estimate(metric) for group in groups)
    return tuple(None if estimate is None else estimate.mean for estimate in found)


def _axis(key: str, points: Sequence[Mapping[str, str]]) -> Quantity:
    """An axis of the grid as a quantity; sizes in MiB."""
    is_size = key.endswith(".size")
    values = tuple(parse_size(point[key]) / (MIB if is_size else 1) for point in points)
    return Quantity(key, f"{key} in MiB" if is_size else key, values, doubling=is_size)
