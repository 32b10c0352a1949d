# SPDX-License-Identifier: GPL-2.0-or-later
"""What varies from run to run: axes with their values, and every combination of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from s80lab.base.strict import parse_size

Sweep = Mapping[str, Sequence[str | int | float]]


@dataclass(frozen=True)
class Axis:
    """The key (dotted, of the machine file; or protocol, machine, cores, clients, ...) and its values as written."""

    key: str
    values: tuple[str, ...]


def sweep_points(sweep: Sweep) -> list[dict[str, str]]:
    """Every combination of a sweep's values, as text; one without any where nothing is swept."""
    return [dict(zip(sweep, map(str, values), strict=True)) for values in itertools.product(*sweep.values())]


def axes_of(points: Sequence[Mapping[str, str]]) -> list[Axis]:
    """The axes that these points lie on, values in the order of their first appearance."""
    keys = dict.fromkeys(key for point in points for key in point)
    return [Axis(key, tuple(dict.fromkeys(point[key] for point in points if key in point))) for key in keys]


def horizontal(axes: Sequence[Axis]) -> Axis:
    """The axis of numbers with most values; the first where none is of numbers."""
    of_numbers = [axis for axis in axes if all(is_number(value) for value in axis.values)]
    return max(of_numbers, key=lambda axis: len(axis.values), default=axes[0])


def row_label(axes: Sequence[Axis], values: Sequence[str]) -> str:
    """`moesi, l2.size 1MiB`: protocols, workloads, images and servers speak for themselves, as a profile's keys do."""
    words = (
        value
        if axis.key in ("protocol", "workload", "image", "server")
        else f"{axis.key.removeprefix('workload.').removeprefix('scale.')} {value}"
        for axis, value in zip(axes, values, strict=True)
    )
    return ", ".join(words)


def is_number(value: str) -> bool:
    """Sizes are numbers too."""
    try:
        parse_size(value)
    except ValueError:
        return False
    return True
