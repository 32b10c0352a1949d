# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of an exploration: the metrics of each design, and the error of a filtered capture; the quantities of its
scatter plot, and the designs on the Pareto front of two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from s80lab.analysis.groups import Group, Run
from s80lab.analysis.sections import Entry
from s80lab.base.format import ABSENT, PERCENT, THREE
from s80lab.base.strict import parse_size
from s80lab.base.terminal import counted
from s80lab.capture.error import HOME_QUANTITIES, QUANTITIES
from s80lab.capture.explore.grid import Point
from s80lab.config.grid import Grid, is_number
from s80lab.report.tables import Cell, Row, Table, has_value, table_by_group
from s80lab.results.metrics.sampling import FROM_SHARED

ENTRIES = (
    Entry("L2 MPKI", "l2_mpki.all", THREE),
    Entry("from memory", "miss_source.all.memory", PERCENT),
    Entry("from M", "miss_source.all.M", PERCENT),
    Entry("from O", "miss_source.all.O", PERCENT),
    Entry("from E", "miss_source.all.E", PERCENT),
    Entry("from S", "miss_source.all.S", PERCENT),
    Entry("from LLC", "miss_source.all.llc", PERCENT),
    Entry("from group cache", "miss_source.all.group", PERCENT),
    Entry("E share", "e_share", PERCENT),
    Entry("E-to-M per E fill", "e_to_m_share", PERCENT),
    Entry("upgrades", "upgrade_pki.made", THREE),
    Entry("traffic", "traffic_pki.all", THREE),
    Entry("CPI", "cpi.all", THREE),
)


def design_groups(grid: Grid, points: Sequence[Point], of_captures: Sequence[Sequence[Run]]) -> list[Group]:
    """One group per design, with one run per capture. of_captures: for each capture the runs of all designs. The means
    over the captures of a group have an interval if there are several captures."""
    runs = zip(*of_captures, strict=True)
    return [Group(grid.label(point.values), of_design) for point, of_design in zip(points, runs, strict=True)]


def designs_table(groups: Sequence[Group]) -> Table:
    """A table with one row per design."""
    entries = [entry for entry in ENTRIES if entry.metric not in FROM_SHARED or has_value(entry, groups)]
    table = table_by_group("All designs", groups, entries, {"verdict": _verdict})
    table.note = (
        "L2 MPKI: L2 misses per 1000 instructions. From memory, M, O, E, S: share of the misses serviced by "
        "memory or by a cache in that state. E share: E fills divided by all fills. E-to-M per E fill: silent "
        "E-to-M upgrades per E fill. Upgrades and traffic (blocks fetched, blocks written back, and upgrades): per "
        "1000 instructions. Verdict: invalid if the caches did not reach steady state before the measured region."
    )
    return table


def verdicts(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """The warning above all numbers if designs are invalid, as verdict and reason. Of a replay, only the steady state
    decides."""
    invalid = sum(bool(group.reasons) for group in groups)
    why = (
        "The caches of these designs did not reach steady state before the measured region. `s80lab replay` states the "
        "reasons for one design."
    )
    return [(f"{invalid} of {counted(len(groups), 'design')}: invalid.", why)] if invalid else []


def errors_table(groups: Sequence[Group]) -> Table | None:
    """The error of filtered captures for each design; None for full captures, or if no error has been measured.

    The error is known by protocol and sizes, so it is the same for all captures.
    """
    stated = [group.runs[0].manifest["filter_error"] or {} for group in groups]
    if not any(error.get("errors") for error in stated):
        return None
    home = [one for one in HOME_QUANTITIES if any(one.name in error.get("errors", {}) for error in stated)]
    listed = (*QUANTITIES, *home)
    table = Table(
        "Error of the filtered capture",
        tuple(f"{one.title}, {one.unit}" for one in listed),
        note="Error: value from a filtered capture minus value from a full capture. It was measured with the "
        "protocol of the row, and with the sizes of the row or the next smaller measured sizes; a dash: "
        "not measured. A difference between two designs that is not larger than this error is not "
        "significant.",
    )
    for group, error in zip(groups, stated, strict=True):
        errors = error["errors"]
        cells = (ABSENT if errors.get(one.name) is None else f"{errors[one.name]:+.2f}" for one in listed)
        table.rows.append(Row(group.label, tuple(map(Cell, cells))))
    return table


def _verdict(group: Group) -> Cell:
    return Cell("invalid" if group.reasons else "valid")


Place = tuple[float | None, float | None]


def pareto_front(points: Sequence[Place]) -> list[int]:
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
