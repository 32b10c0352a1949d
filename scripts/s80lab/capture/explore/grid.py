# SPDX-License-Identifier: GPL-2.0-or-later
"""The designs of an exploration: each point of the grid, resolved for the capture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from s80lab.base.errors import UserError
from s80lab.base.strict import parse_settings
from s80lab.capture.design import Design, Resolver
from s80lab.capture.store import Capture
from s80lab.config.grid import Grid

# The hardware threads are what was recorded; how many of them share a core is what can be varied.
CORES = "cores"


@dataclass(frozen=True)
class Point:
    """One design of the grid, with its value on each axis."""

    design: Design
    values: Mapping[str, str]


def resolve_points(capture: Capture, grid: Grid, machine: str | None, settings: Sequence[str]) -> list[Point]:
    """Every combination of values as a resolved design. Raises UserError for the first invalid combination."""
    return PointResolver(capture, machine, settings).resolve(grid.points())


class PointResolver:
    """Resolves points of a grid on a capture. machine, settings: of all points, as --machine and --set name them."""

    def __init__(self, capture: Capture, machine: str | None, settings: Sequence[str]) -> None:
        self._capture = capture
        self._machine = machine
        self._settings = parse_settings(settings)
        self._resolver = Resolver(capture)
        self._parsed: dict[tuple[str, str], Mapping[str, object]] = {}

    def resolve(self, points: Iterable[Mapping[str, str]]) -> list[Point]:
        """The designs of the points. Raises UserError for the first invalid one."""
        return [Point(self._design(values), values) for values in points]

    def _design(self, values: Mapping[str, str]) -> Design:
        chosen = dict(values)
        protocol = chosen.pop("protocol", None)
        machine = chosen.pop("machine", self._machine)
        overrides = dict(self._settings)
        for pair in chosen.items():
            if pair not in self._parsed:
                self._parsed[pair] = self._override(*pair)
            overrides |= self._parsed[pair]
        return self._resolver.design(machine, protocol, overrides)

    def _override(self, key: str, value: str) -> Mapping[str, object]:
        """The value of one axis as an override of the machine file."""
        if key == CORES:
            key, value = "processors.threads_per_core", _threads(self._capture, value)
        return parse_settings([f"{key}={value}"], "--vary ")


def _threads(capture: Capture, cores: str) -> str:
    """The number of hardware threads per core with which the processors of the capture form `cores` cores."""
    processors = capture.machine.processors.count
    if not cores.isdigit() or not int(cores) or processors % int(cores):
        raise UserError(
            f"--vary {CORES}={cores}: the number of cores must divide {processors}, the number of hardware "
            "threads in the capture"
        )
    return str(processors // int(cores))
