# SPDX-License-Identifier: GPL-2.0-or-later
"""Two programs, or two forms of one: the differences of their counts, and the fields and functions that cause them."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from s80lab.analysis.comparison.difference import Difference, of_pairs, of_samples
from s80lab.base.errors import UserError
from s80lab.base.vocabulary import LABELS
from s80lab.exec.folder import ExecRun

VALUES: Mapping[str, Callable[[Mapping[str, Any]], float]] = {
    "instructions": lambda side: side["instructions"],
    "cycles": lambda side: side["cycles"],
    "misses": lambda side: side["l2_misses"],
    "transfers": lambda side: sum(side["misses"][state] for state in LABELS["state"]),
    "upgrades": lambda side: side["upgrades"],
}
"""Counts by name, of one side (`all`, `user` or `kernel`) of a report."""
SIDES = LABELS["privilege"]
_CONDITION = re.compile(r"\s*(\S+)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*")
_COMPARED = {">": operator.gt, "<": operator.lt}


@dataclass(frozen=True)
class Row:
    """A count of both sides. first, second: means over the runs."""

    name: str
    first: float
    second: float
    difference: Difference

    @property
    def change(self) -> float | None:
        """The difference as a share of the first side; None if that is 0 and the second is not."""
        if not self.first:
            return None if self.second else 0.0
        return (self.second - self.first) / self.first

    @property
    def verdict(self) -> str:
        """Whether the interval of the difference excludes 0. One run a side has no interval."""
        if not self.difference.estimate:
            return "equal"
        half = self.difference.half_width
        if half is not None and abs(self.difference.estimate) <= half:
            return "no difference shown"
        word = "higher" if self.difference.estimate > 0 else "lower"
        return word if half is not None else f"{word} (one run)"


@dataclass(frozen=True)
class Moved:
    """Transfers and upgrades of one field or function: means over the runs."""

    name: str
    first: float
    second: float


@dataclass(frozen=True)
class ExecComparison:
    """Runs of two names. UserError: a run has no whole region, or only one side divides by calls."""

    names: tuple[str, str]
    first: Sequence[ExecRun]
    second: Sequence[ExecRun]

    def __post_init__(self) -> None:
        for run in (*self.first, *self.second):
            if not run.record.complete:
                raise UserError(f"{run.folder}: the run was ended before the program; run the program again")
        if len({bool(run.record.per) for run in (*self.first, *self.second)}) > 1:
            raise UserError(
                f"only one of {self.names[0]} and {self.names[1]} divides by calls: run both with --per, or none"
            )

    @property
    def per_call(self) -> bool:
        """Whether the counts are divided by the calls of a function."""
        return bool(self.first[0].record.per)

    @property
    def paired(self) -> bool:
        """Whether both sides have the same boots and seeds."""
        first, second = ([(run.record.boot, run.record.seed) for run in side] for side in (self.first, self.second))
        return first == second

    @cached_property
    def rows(self) -> list[Row]:
        """Every count of the program, then of its user code and of the kernel."""
        return [self._row(name) for name in names()]

    def _row(self, name: str) -> Row:
        first, second = ([self._value(run, name) for run in side] for side in (self.first, self.second))
        difference = of_pairs(first, second) if self.paired else of_samples(first, second)
        return Row(name, sum(first) / len(first), sum(second) / len(second), difference)

    def _value(self, run: ExecRun, name: str) -> float:
        side, _, count = name.rpartition(".")
        value = VALUES[count](run.report["counts"][side or "all"])
        return value / self._calls(run)

    def _calls(self, run: ExecRun) -> float:
        if not self.per_call:
            return 1.0
        if not run.report["calls"]:
            raise UserError(f"{run.folder}: {run.record.per} was never called; run the program again")
        return float(run.report["calls"])

    def moved(self, kind: str) -> list[Moved]:
        """Transfers and upgrades by `fields` or `functions`, the largest differences first; empty if a run has no names
        (--no-misses)."""
        sides = [self._moved_of(side, kind) for side in (self.first, self.second)]
        found = [Moved(name, sides[0][name], sides[1][name]) for name in {**sides[0], **sides[1]}]
        return sorted(found, key=lambda one: (-abs(one.second - one.first), one.name))

    def record(self) -> dict[str, Any]:
        """The comparison as data."""
        return {
            "names": list(self.names),
            "per_call": self.per_call,
            "rows": [
                {
                    "name": row.name,
                    "first": row.first,
                    "second": row.second,
                    "difference": row.difference.estimate,
                    "half_width": row.difference.half_width,
                    "change": row.change,
                    "verdict": row.verdict,
                }
                for row in self.rows
            ],
            **{kind: [asdict(one) for one in self.moved(kind)] for kind in ("fields", "functions")},
        }

    def _moved_of(self, side: Sequence[ExecRun], kind: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for run in side:
            for one in (run.report["contention"] or {}).get(kind, ()):
                found[one["name"]] += (one["transfers"] + one["upgrades"]) / len(side) / self._calls(run)
        return found


def names() -> list[str]:
    """The names of the counts: `transfers`, `user.transfers`, ..."""
    return [f"{side}{name}" for side in ("", *(f"{side}." for side in SIDES)) for name in VALUES]


@dataclass(frozen=True)
class Condition:
    """A limit of a change, such as `transfers > +5%`."""

    text: str
    name: str
    compared: Callable[[float, float], bool]
    share: float

    def holds(self, comparison: ExecComparison) -> bool:
        """Whether the change from the first side to the second is beyond the limit. From 0 to more, every limit is
        exceeded."""
        row = next(row for row in comparison.rows if row.name == self.name)
        change = row.change if row.change is not None else float("inf")
        return self.compared(change, self.share)


def parse_condition(text: str) -> Condition:
    """UserError: the text is not a condition."""
    match = _CONDITION.fullmatch(text)
    if match is None or match[1] not in names():
        raise UserError(
            f"--fail-if '{text}': write a count, > or <, and a change in percent, such as 'transfers > +5%'; counts "
            f"are {', '.join(names())}"
        )
    return Condition(text, match[1], _COMPARED[match[2]], float(match[3]) / 100)
