# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the probes of memory and of context switches. Other loads have only the miss ratio."""

from __future__ import annotations

from s80lab.base.format import FINE_PERCENT, WHOLE
from s80lab.results.metrics.cycles import cycles
from s80lab.results.metrics.registry import Measurement, Rows, Value, metric, ratio

WORD = 4
"""Bytes."""
KINDS = ("load", "store")


def _batches(m: Measurement, *types: str) -> int:
    """How often the work of these transaction types was done; 0 for other loads and for replays."""
    if m.result is None or "batch" not in m.result:
        return 0
    return int(m.load["batch"]) * sum(int(m.load["transactions"][name]["count"]) for name in types)


def _busy_seconds(m: Measurement) -> float:
    """Busy time of the probe's processes, in seconds."""
    return cycles(m.region, **{"class": "session"}) / m.region.header.clock_hz


@metric(
    "MB per second of processor time",
    "data that the memory probe copied, per second of its processor time. Each copied word counts once, "
    "although it is read and written",
    "4 x batch x count of COPY / busy time of the class session",
    Rows("probes", WHOLE, "copied, MB per second of processor time"),
)
def _copy_mb(m: Measurement) -> Value:
    words = _batches(m, "COPY")
    return ratio(words * WORD / 1e6, _busy_seconds(m)) if words else None


@metric(
    "ns of processor time",
    "processor time of the memory probe per token hand-over, including the walk through the working set. PASS "
    "hands the token to another process, KEEP to the same process",
    "busy time of the class session / (batch x count of PASS and KEEP)",
    Rows("probes", WHOLE, "token hand-over, ns of processor time"),
)
def _token_ns(m: Measurement) -> Value:
    batches = _batches(m, "PASS", "KEEP")
    return ratio(_busy_seconds(m) * 1e9, batches) if batches else None


@metric(
    "share",
    "loads and stores of the sessions' user code that miss the L1 (l1), and those that also miss the L2 (l2), "
    "as shares of all their loads and stores",
    "l1_misses or l2_misses / accesses, loads and stores of the class session in user mode",
    Rows(
        "probes",
        FINE_PERCENT,
        {"l1": "in the L1", "l2": "in the L1 and the L2"},
        "sessions' user-mode loads and stores that miss",
    ),
)
def _data_miss_ratio(m: Measurement) -> Value:
    if "session" not in m.region.header.labels["class"]:
        return None
    own = {"class": "session", "privilege": "user"}

    def total(name: str) -> int:
        return sum(m.region.total(name, kind=kind, **own) for kind in KINDS)

    return {level: ratio(total(f"{level}_misses"), total("accesses")) for level in ("l1", "l2")}
