# SPDX-License-Identifier: GPL-2.0-or-later
"""The designs of an exploration: each point of the grid, resolved for the capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from s80lab.base.errors import UserError
from s80lab.base.strict import parse_settings
from s80lab.capture.design import Design, resolve_design
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
    found = []
    for values in grid.points():
        chosen = dict(values)
        protocol = chosen.pop("protocol", None)
        named = chosen.pop("machine", machine)
        if CORES in chosen:
            chosen["processors.threads_per_core"] = _threads(capture, chosen.pop(CORES))
        varied = [f"{key}={value}" for key, value in chosen.items()]
        overrides = parse_settings([*settings, *varied])
        found.append(Point(resolve_design(capture, named, protocol, overrides), values))
    return found


def _threads(capture: Capture, cores: str) -> str:
    """The number of hardware threads per core with which the processors of the capture form `cores` cores."""
    processors = capture.machine.processors.count
    if not cores.isdigit() or not int(cores) or processors % int(cores):
        raise UserError(
            f"--vary {CORES}={cores}: the number of cores must divide {processors}, the number of hardware "
            "threads in the capture"
        )
    return str(processors // int(cores))
