# SPDX-License-Identifier: GPL-2.0-or-later
"""Attributed misses by function, on both sides of a comparison.

The counts come from misses.collapsed in the folders of runs with a log of misses (`s80lab run --misses`). Each line of
this file is a stack, `process;entry;function;data COUNT`. Counts are divided by the instructions of the measured
region, because regions differ in length.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from s80lab.analysis.comparison.contrast import Comparison
from s80lab.analysis.comparison.difference import Difference
from s80lab.analysis.groups import Group, Run
from s80lab.analysis.misses.stacks import read_stacks
from s80lab.results.run_folder import MISS_STACKS

PER = 1_000_000


@dataclass(frozen=True)
class FunctionContrast:
    """The misses of one function per million instructions, on both sides."""

    name: str
    first: float
    second: float
    difference: Difference

    @property
    def change(self) -> float | None:
        """The difference as a share of the first value; None if the function has no misses on the first side."""
        return self.difference.estimate / self.first if self.first else None


def compare_functions(comparison: Comparison) -> list[FunctionContrast]:
    """The functions with misses on either side, largest difference first.

    Only runs with a log of misses count; empty if a side has none. A function without misses in a run has 0.
    """
    sides = [_with_log(side) for side in (comparison.first, comparison.second)]
    if None in sides:
        return []
    first, second = (side for side in sides if side is not None)
    logged = Comparison(first, second, comparison.together)
    misses = {run.name: read_functions(run.folder / MISS_STACKS) for side in (first, second) for run in side.runs}
    found = []
    for name in sorted({name for of_run in misses.values() for name in of_run}):
        contrast = logged.contrast_of(lambda run, name=name: _rate(run, misses[run.name][name]))  # type: ignore[misc]
        assert contrast is not None  # each run has a number
        found.append(FunctionContrast(name, *contrast))
    return sorted(found, key=lambda one: -abs(one.difference.estimate))


def read_functions(path: Path) -> Counter[str]:
    """The misses of each function. UserError if the file cannot be read or a line has another form."""
    counts: Counter[str] = Counter()
    for frames, count in read_stacks(path):
        counts[frames[-2]] += count
    return counts


def _with_log(side: Group) -> Group | None:
    """The runs of a side that have a log of misses; None if no run has one."""
    runs = tuple(run for run in side.runs if (run.folder / MISS_STACKS).is_file())
    return Group(side.label, runs) if runs else None


def _rate(run: Run, misses: int) -> float:
    return PER * misses / float(run.manifest["instructions"])
