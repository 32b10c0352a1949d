# SPDX-License-Identifier: GPL-2.0-or-later
"""Axes of sweeps: keys with their values, and all combinations of the values."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from s80lab.base.strict import parse_size

Sweep = Mapping[str, Sequence[str | int | float]]


@dataclass(frozen=True)
class Axis:
    """One axis of a sweep.

    key: a dotted key of the machine file, or protocol, machine, cores, clients, ...
    values: the values as written.
    """

    key: str
    values: tuple[str, ...]


def sweep_points(sweep: Sweep) -> list[dict[str, str]]:
    """Every combination of a sweep's values, as text. Without a sweep: one empty combination."""
    return [dict(zip(sweep, map(str, values), strict=True)) for values in itertools.product(*sweep.values())]


def axes_of(points: Sequence[Mapping[str, str]]) -> list[Axis]:
    """The axes of these points, with values in the order of their first appearance."""
    keys = dict.fromkeys(key for point in points for key in point)
    return [Axis(key, tuple(dict.fromkeys(point[key] for point in points if key in point))) for key in keys]


def horizontal(axes: Sequence[Axis]) -> Axis:
    """The axis for the x axis of a figure: the numeric axis with most values, or the first axis if none is numeric."""
    of_numbers = [axis for axis in axes if all(is_number(value) for value in axis.values)]
    return max(of_numbers, key=lambda axis: len(axis.values), default=axes[0])


def row_label(axes: Sequence[Axis], values: Sequence[str]) -> str:
    """A label such as `moesi, l2.size 1MiB`. Protocols, workloads, images and servers appear without their key."""
    words = (
        value
        if axis.key in ("protocol", "workload", "image", "server")
        else f"{axis.key.removeprefix('workload.').removeprefix('scale.')} {value}"
        for axis, value in zip(axes, values, strict=True)
    )
    return ", ".join(words)


def is_number(value: str) -> bool:
    """Whether a value is a number or a size."""
    try:
        parse_size(value)
    except ValueError:
        return False
    return True
