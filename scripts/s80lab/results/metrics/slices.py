# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of time slices and epochs: lengths of slices, errors of predicted shares, and waits in order.

Lengths are in powers of two: length 4096 stands for 4096 to 8191 instructions. The metrics are None if the engine has
no time slices, or if nothing was executed. Background: docs/background/clock.md.
"""

from __future__ import annotations

from itertools import accumulate

from s80lab.base.format import FINE_PERCENT, PERCENT, THREE, WHOLE
from s80lab.results.metrics.registry import Measurement, Rows, Value, metric, ratio

# Instructions. Most slices end earlier, because a processor has used up its share of the epoch.
LONG = (8192, 32768, 131072)
# Headings of rows in the report.
SLICES = "time slices, in instructions"
ORDER = "order and epochs"


def _by_length(m: Measurement, name: str) -> list[tuple[int, int]]:
    """Pairs (length, count); empty if the statistic is not declared."""
    header = m.region.header
    if name not in header.statistics:
        return []
    lengths = map(int, header.labels["slice_length"])
    return list(zip(lengths, m.region[name].tolist(), strict=True))


def _quotient(m: Measurement, part: str, whole: str) -> float | None:
    """The quotient of two statistics of all cores; None if `part` is not declared."""
    return ratio(m.region.total(part), m.region.total(whole)) if part in m.region.header.statistics else None


@metric(
    "instructions",
    "length of the time slices, rounded down to a power of two: longest, and median (half of all instructions are "
    "in time slices of this length or shorter)",
    "from slice_instructions by slice_length",
    Rows("load", WHOLE, {"median": "median length, weighted by instructions", "longest": "longest"}, SLICES),
    of_caches=False,
)
def _slice_length(m: Measurement) -> Value:
    run = [(length, count) for length, count in _by_length(m, "slice_instructions") if count]
    if not run:
        return {"median": None, "longest": None}
    sums = list(accumulate(count for _, count in run))
    median = next(length for (length, _), sum_ in zip(run, sums, strict=True) if 2 * sum_ >= sums[-1])
    return {"median": median, "longest": run[-1][0]}


@metric(
    "share",
    "instructions in time slices that are at least as long as the number in the metric's label, as a share of all "
    "instructions",
    "slice_instructions of this slice_length and longer ones / slice_instructions",
    Rows("load", PERCENT, {"8192": "share of instructions in slices of 8192 or more"}, SLICES),
    of_caches=False,
)
def _slice_over(m: Measurement) -> Value:
    run = _by_length(m, "slice_instructions")
    total = sum(count for _, count in run)
    return {str(long): ratio(sum(count for length, count in run if length >= long), total) for long in LONG}


@metric("million time slices", "number of time slices of all processors", "slices", of_caches=False)
def _slices_m(m: Measurement) -> Value:
    slices = _by_length(m, "slices")
    return sum(count for _, count in slices) / 1e6 if slices else None


@metric(
    "share of an epoch",
    "error of the predicted shares: by how much a processor was ahead of or behind simulated time at the end of an "
    "epoch through which it ran, on average, as a share of the epoch's length",
    "epoch_error_cycles / epoch_cycles",
    Rows("load", PERCENT, "mean error at the end of an epoch, share of the epoch", ORDER),
)
def _epoch_error(m: Measurement) -> Value:
    return _quotient(m, "epoch_error_cycles", "epoch_cycles")


@metric(
    "waits per 1000 instructions",
    "accesses that had to wait, or would have had to, for a conflicting access of another processor, because the guest "
    "executed them in this order",
    "1000 x order_waits / instructions",
    Rows("load", THREE, "waits for a conflicting access, per 1000 instructions", ORDER),
)
def _order_wait_pki(m: Measurement) -> Value:
    waits = _quotient(m, "order_waits", "instructions")
    return None if waits is None else 1000 * waits


@metric(
    "share of busy cycles",
    "error of waits: by how much processors that poll saw a store of another processor later than on the machine, "
    "because the guest executed their polls in another order than that of simulated time",
    "wait_error_cycles / busy_cycles",
    Rows("load", FINE_PERCENT, "error of waits by polling, share of busy cycles", ORDER),
)
def _wait_error(m: Measurement) -> Value:
    return _quotient(m, "wait_error_cycles", "busy_cycles")
