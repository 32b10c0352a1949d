# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the lengths of QEMU's time slices, in powers of two: length 4096 stands for 4096 to 8191 instructions.

The metrics are None if the engine has no time slices or executed nothing. Background: docs/background/clock.md.
"""

from __future__ import annotations

from itertools import accumulate

from s80lab.results.metrics.registry import Measurement, Value, metric, ratio

# Instructions: longer than any bounded slice, then 4 and 16 times this length.
LONG = (8192, 32768, 131072)


def _by_length(m: Measurement, name: str) -> list[tuple[int, int]]:
    """Pairs (length, count); empty if the statistic is not declared."""
    header = m.region.header
    if name not in header.statistics:
        return []
    lengths = map(int, header.labels["turn_length"])
    return list(zip(lengths, m.region[name].tolist(), strict=True))


@metric(
    "turn_length",
    "instructions",
    "length of QEMU's time slices, rounded down to a power of two: longest, and median (half of all "
    "instructions are in time slices of this length or shorter)",
    "from turn_instructions by turn_length",
    of_caches=False,
)
def _turn_length(m: Measurement) -> Value:
    run = [(length, count) for length, count in _by_length(m, "turn_instructions") if count]
    if not run:
        return {"median": None, "longest": None}
    sums = list(accumulate(count for _, count in run))
    median = next(length for (length, _), sum_ in zip(run, sums, strict=True) if 2 * sum_ >= sums[-1])
    return {"median": median, "longest": run[-1][0]}


@metric(
    "turn_over",
    "share",
    "instructions in QEMU's time slices that are at least as long as the number in the metric's label, as a "
    "share of all instructions",
    "turn_instructions of this turn_length and longer ones / turn_instructions",
    of_caches=False,
)
def _turn_over(m: Measurement) -> Value:
    run = _by_length(m, "turn_instructions")
    total = sum(count for _, count in run)
    return {str(long): ratio(sum(count for length, count in run if length >= long), total) for long in LONG}


@metric("turns_m", "million time slices", "number of time slices that QEMU gave its vCPUs", "turns", of_caches=False)
def _turns_m(m: Measurement) -> Value:
    turns = _by_length(m, "turns")
    return sum(count for _, count in turns) / 1e6 if turns else None
