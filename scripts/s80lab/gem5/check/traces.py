# SPDX-License-Identifier: GPL-2.0-or-later
"""The traces of the check, and the transitions that they reach.

Traces on one machine are joined, because starting gem5 takes longer than playing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from s80lab.base import paths
from s80lab.gem5.agree import agree
from s80lab.trace import text
from s80lab.trace.order import Op, Order, make
from s80lab.trace.setup import Setup

FOLDER = paths.ROOT / "configs" / "gem5" / "check"
# Joined traces use lines of their own. The distance is a multiple of the sets of every cache, so lines keep their sets.
APART = 4096


@dataclass(frozen=True)
class Simulation:
    """Accesses that gem5 plays in one simulation. traces: the number of traces that were joined."""

    name: str
    machine: str
    settings: tuple[str, ...]
    traces: int
    order: Order

    def setup(self) -> Setup:
        return agree.setup(self.machine, list(self.settings))


def simulations() -> tuple[Simulation, ...]:
    """All simulations of the check: traces that were written by hand, and random accesses in small caches."""
    return (_written(), _drawn())


def _written() -> Simulation:
    line_bytes = agree.setup("classroom", []).machine.line_bytes
    orders = [text.read(file).order(line_bytes) for file in sorted(FOLDER.glob("*.trace"))]
    return Simulation("written by hand", "classroom", (), len(orders), _joined(orders))


def _drawn() -> Simulation:
    def draw(seed: int, lines: int, stores: int, fetches: int, own: int) -> Order:
        return random_order(seed, 2000, 18, lines, stores, fetches, own)

    shared = draw(101, lines=48, stores=25, fetches=5, own=10)
    code = draw(102, lines=20, stores=15, fetches=40, own=0)
    private = draw(103, lines=40, stores=30, fetches=10, own=90)
    small = ("l1i.size=512", "l1d.size=512", "l2.size=2KiB")
    return Simulation("random accesses", "s80", small, 3, _joined((shared, code, private)))


def _joined(orders: Iterable[Order]) -> Order:
    moved = []
    for number, order in enumerate(orders):
        assert int(order["line"].max()) < APART
        apart = order.copy()
        apart["line"] += number * APART
        moved.append(apart)
    joined: Order = np.concatenate(moved)
    return joined


LIST = FOLDER / "transitions.txt"

Transitions = dict[str, list[str]]
"""STATE.EVENT by controller, sorted."""


def existing_transitions() -> Transitions:
    """The transitions of the releases on which s80lab was tried (configs/gem5/check/transitions.txt)."""
    found: Transitions = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            place, _, events = line.partition(": ")
            controller, state = place.split()
            found.setdefault(controller, []).extend(f"{state}.{event}" for event in events.split())
    return {controller: sorted(names) for controller, names in found.items()}


def reached_transitions(counts: Iterable[Mapping[str, int]]) -> Transitions:
    """The transitions CONTROLLER.STATE.EVENT that any of these counts has, by controller."""
    found: dict[str, set[str]] = {}
    for rows in counts:
        for row, count in rows.items():
            controller, _, transition = row.partition(".")
            if count:
                found.setdefault(controller, set()).add(transition)
    return {controller: sorted(names) for controller, names in sorted(found.items())}


def random_order(seed: int, accesses: int, processors: int, lines: int, stores: int, fetches: int, own: int) -> Order:
    """Accesses of all processors to `lines` shared lines, and to as many lines of each processor alone.

    stores, fetches: percentages of the accesses. own: percentage that goes to lines of the processor alone.
    """
    draw = _SplitMix(seed, accesses)
    processor = draw.below(processors)
    kind = draw.below(100)
    op = np.where(kind < stores, Op.STORE, np.where(kind < stores + fetches, Op.IFETCH, Op.LOAD))
    line = draw.below(lines)
    private = draw.below(100) < own
    return make(processor, op, np.where(private, lines * (1 + processor) + line, line))


class _SplitMix:
    """SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Each call draws one column of numbers."""

    def __init__(self, seed: int, count: int) -> None:
        self._next = np.uint64(seed)
        self._count = count

    def below(self, limit: int) -> npt.NDArray[np.int64]:
        """Numbers from 0 up to but not including `limit`."""
        gamma = np.uint64(0x9E3779B97F4A7C15)
        with np.errstate(over="ignore"):
            z = self._next + gamma * np.arange(1, self._count + 1, dtype=np.uint64)
            self._next = z[-1]
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z ^= z >> np.uint64(31)
        return ((z >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32)).astype(np.int64)
