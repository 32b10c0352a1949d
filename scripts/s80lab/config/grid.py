# SPDX-License-Identifier: GPL-2.0-or-later
"""Grids: keys with their values, and every combination of these values (the points of the grid).

Everything that varies a design is such a grid, and has its grammar here:
    --vary KEY=VALUES           of the command line: a list a,b,c, or a range a..b of doublings; Grid.parse
    [sweep] with KEY = [VALUES] of an experiment's file; Grid.of_sweep
    knockouts.toml              no change, each change alone, all changes; ablation
The options --set KEY=VALUE give one value to every point; base/strict.py parses them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from s80lab.base.errors import UserError
from s80lab.base.strict import parse_size, shortened, size_text

Sweep = Mapping[str, Sequence[str | int | float]]
MOST_RUNS = 50_000
"""Largest number of points of a grid, and of runs of a list. A list of this size needs about 450 MB of memory."""
EXAMPLE = "--vary protocol=msi,mesi,moesi or --vary l2.size=512KiB..16MiB"


@dataclass(frozen=True)
class Axis:
    """One axis of a grid.

    key: a dotted key of the machine file, or protocol, machine, cores, clients, ...
    values: the values as written.
    """

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    axes: tuple[Axis, ...]

    @classmethod
    def parse(cls, texts: Sequence[str], command: str = "explore") -> Grid:
        """The grid of --vary options. UserError for a malformed option, and for a command without one."""
        axes = tuple(_axis(text) for text in texts)
        if not axes:
            raise UserError(f"{command} needs at least one --vary option, for example {EXAMPLE}")
        keys = [axis.key for axis in axes]
        for key in keys:
            if keys.count(key) > 1:
                raise UserError(
                    f"--vary {key} is given {keys.count(key)} times; give all values in one option, separated by commas"
                )
        return cls(axes)

    @classmethod
    def of_sweep(cls, sweep: Sweep) -> Grid:
        """The grid of an experiment's [sweep]. Without a sweep it has no axis, and one empty point."""
        return cls(tuple(Axis(key, tuple(map(str, values))) for key, values in sweep.items()))

    @classmethod
    def of_points(cls, points: Sequence[Mapping[str, str]]) -> Grid:
        """The grid that has these points, with values in the order of their first appearance."""
        keys = dict.fromkeys(key for point in points for key in point)
        return cls(
            tuple(Axis(key, tuple(dict.fromkeys(point[key] for point in points if key in point))) for key in keys)
        )

    @property
    def size(self) -> int:
        """The number of points."""
        return math.prod(len(axis.values) for axis in self.axes)

    def points(self) -> list[dict[str, str]]:
        """Every combination of values; the last axis varies fastest. UserError for more than MOST_RUNS points, before
        any point is made."""
        check_size(self.size, "point")
        keys = [axis.key for axis in self.axes]
        return [
            dict(zip(keys, values, strict=True)) for values in itertools.product(*(axis.values for axis in self.axes))
        ]

    def label(self, point: Mapping[str, str]) -> str:
        """A label such as `moesi, l2.size 1MiB`. Protocols, workloads, images and servers appear without their key.
        Axes on which the point has no value are left out."""
        return ", ".join(
            point[axis.key]
            if axis.key in ("protocol", "workload", "image", "server")
            else f"{axis.key.removeprefix('workload.').removeprefix('scale.')} {point[axis.key]}"
            for axis in self.axes
            if axis.key in point
        )

    def across(self) -> Axis:
        """The axis for the x axis of a figure: the numeric axis with most values, or the first axis if none is
        numeric."""
        of_numbers = [axis for axis in self.axes if all(is_number(value) for value in axis.values)]
        return max(of_numbers, key=lambda axis: len(axis.values), default=self.axes[0])

    def without(self, axis: Axis) -> Grid:
        """The grid of the other axes."""
        return Grid(tuple(other for other in self.axes if other is not axis))

    def varying(self) -> Grid:
        """The grid of the axes with several values; the whole grid if there is none."""
        return Grid(tuple(axis for axis in self.axes if len(axis.values) > 1) or self.axes)

    def __str__(self) -> str:
        return "; ".join(f"{axis.key} = {', '.join(axis.values)}" for axis in self.axes)


def check_size(count: int, noun: str, *others: int) -> None:
    """UserError for a list that is too long. others: factors of the count, such as the numbers of boots and seeds."""
    factors_of = [count, *(other for other in others if other > 1)]
    total = math.prod(factors_of)
    if total > MOST_RUNS:
        factors = f" ({' x '.join(f'{one:,}' for one in factors_of)})" if len(factors_of) > 1 else ""
        raise UserError(
            f"the grid has {total:,} {noun}s{factors}, and the limit is {MOST_RUNS:,}: give fewer values, or divide "
            "the grid between several commands"
        )


def ablation(changes: Sequence[str]) -> dict[str, list[str]]:
    """The variants of an ablation, by name: no change, each change alone, all changes."""
    return {"none": [], **{f"{change} alone": [change] for change in changes}, "all": list(changes)}


def is_number(value: str) -> bool:
    """Whether a value is a number or a size."""
    try:
        parse_size(value)
    except ValueError:
        return False
    return True


def _axis(text: str) -> Axis:
    key, equals, listed = text.partition("=")
    if not equals or not key or not listed:
        raise UserError(f"--vary {shortened(text)}: expected KEY=VALUES, for example {EXAMPLE}")
    values = [value for part in listed.split(",") for value in _values(text, part.strip())]
    return Axis(key.strip(), tuple(dict.fromkeys(values)))


def _values(text: str, part: str) -> list[str]:
    """The values of one part: a single value, or for `a..b` the values a, 2a, 4a, ... b."""
    first, dots, last = part.partition("..")
    if not part:
        raise UserError(f"--vary {shortened(text)}: a value is empty; remove the extra comma")
    if not dots:
        return [part]
    try:
        low, high = parse_size(first), parse_size(last)
    except ValueError as error:
        raise UserError(f"--vary {shortened(text)}: invalid range {shortened(part)}: {error}") from None
    doublings = (high // low).bit_length() - 1 if low else -1
    if doublings < 0 or low << doublings != high:
        raise UserError(
            f"--vary {shortened(text)}: the range {first}..{last} stands for {first}, its double, and so on up to "
            f"{last}, but doubling never reaches {last}; list the values with commas"
        )
    return [_doubled(first.strip(), step) for step in range(doublings + 1)]


def _doubled(first: str, step: int) -> str:
    """The value `first`, doubled `step` times: `512KiB` doubled three times is `4MiB`. A number without unit stays
    one."""
    return str(int(first) << step) if first.isdigit() else size_text(parse_size(first) << step)
