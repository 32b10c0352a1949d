# SPDX-License-Identifier: GPL-2.0-or-later
"""The grid of an exploration: reads options such as `--vary l2.size=512KiB..16MiB` and resolves the designs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from s80lab.base.errors import UserError
from s80lab.base.strict import parse_settings, parse_size, size_text
from s80lab.capture.design import Design, resolve_design
from s80lab.capture.store import Capture
from s80lab.config.axes import Axis

EXAMPLE = "--vary protocol=msi,mesi,moesi or --vary l2.size=512KiB..16MiB"
# The hardware threads are what was recorded; how many of them share a core is what can be varied.
CORES = "cores"


@dataclass(frozen=True)
class Point:
    """One design of the grid, with its value on each axis."""

    design: Design
    values: tuple[str, ...]


def parse_axes(texts: Sequence[str], command: str = "explore") -> list[Axis]:
    """Read the --vary options. Raises UserError for a malformed one. command: its name, for the message."""
    axes = [_axis(text) for text in texts]
    if not axes:
        raise UserError(f"{command} needs at least one --vary option, for example {EXAMPLE}")
    keys = [axis.key for axis in axes]
    for key in keys:
        if keys.count(key) > 1:
            raise UserError(
                f"--vary {key} is given {keys.count(key)} times; give all values in one option, separated by commas"
            )
    return axes


def points(capture: Capture, axes: Sequence[Axis], machine: str | None, settings: Sequence[str]) -> list[Point]:
    """Every combination of values as a resolved design. Raises UserError for the first invalid combination."""
    found = []
    for values in itertools.product(*(axis.values for axis in axes)):
        chosen = {axis.key: value for axis, value in zip(axes, values, strict=True)}
        protocol = chosen.pop("protocol", None)
        named = chosen.pop("machine", machine)
        if CORES in chosen:
            chosen["processors.threads_per_core"] = _threads(capture, chosen.pop(CORES))
        varied = [f"{key}={value}" for key, value in chosen.items()]
        overrides = parse_settings([*settings, *varied])
        found.append(Point(resolve_design(capture, named, protocol, overrides), values))
    return found


def _axis(text: str) -> Axis:
    key, equals, listed = text.partition("=")
    if not equals or not key or not listed:
        raise UserError(f"--vary {text}: expected KEY=VALUES, for example {EXAMPLE}")
    values = [value for part in listed.split(",") for value in _values(text, part.strip())]
    return Axis(key.strip(), tuple(dict.fromkeys(values)))


def _values(text: str, part: str) -> list[str]:
    """The values of one part: a single value, or for `a..b` the values a, 2a, 4a, ... b."""
    first, dots, last = part.partition("..")
    if not part:
        raise UserError(f"--vary {text}: a value is empty; remove the extra comma")
    if not dots:
        return [part]
    try:
        low, high = parse_size(first), parse_size(last)
    except ValueError as error:
        raise UserError(f"--vary {text}: invalid range {part}: {error}") from None
    doublings = (high // low).bit_length() - 1 if low else -1
    if doublings < 0 or low << doublings != high:
        raise UserError(
            f"--vary {text}: the range {first}..{last} stands for {first}, its double, and so on up to {last}, "
            f"but doubling never reaches {last}; list the values with commas"
        )
    return [_doubled(first.strip(), step) for step in range(doublings + 1)]


def _doubled(first: str, step: int) -> str:
    """The value `first`, doubled `step` times: `512KiB` doubled three times is `4MiB`. A number without unit stays
    one."""
    return str(int(first) << step) if first.isdigit() else size_text(parse_size(first) << step)


def _threads(capture: Capture, cores: str) -> str:
    """The number of hardware threads per core with which the processors of the capture form `cores` cores."""
    processors = capture.machine.processors.count
    if not cores.isdigit() or not int(cores) or processors % int(cores):
        raise UserError(
            f"--vary {CORES}={cores}: the number of cores must divide {processors}, the number of hardware "
            "threads in the capture"
        )
    return str(processors // int(cores))
