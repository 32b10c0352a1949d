# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions by type over the seeds of a group: the executed mix and the response times."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from s80lab.base.errors import UserError
from s80lab.base.histogram import quantile
from s80lab.config.mix import Mix, Workload
from s80lab.config.workload import expected_mix, load_workload
from s80lab.report.data import Group
from s80lab.report.tables import ABSENT, Cell, Row, Table
from s80lab.results import paper

# A type that was expected this often and was never executed is named in the note.
WORTH_SAYING = 5
QUANTILES = (0.50, 0.90, 0.95, 0.99)


@dataclass(frozen=True)
class Type:
    """One transaction type. share, expected, table_1: its share of all transactions as executed, as the driver's mix
    implies, and in the paper's Table 1. Response times in simulated milliseconds, by quantile; error_ms: standard error
    of the mean."""

    name: str
    count: int
    failed: int
    substituted: int
    share: float
    expected: float | None
    table_1: float | None
    mean_ms: float
    error_ms: float
    quantiles_ms: tuple[float, ...]


def types(group: Group) -> list[Type]:
    """The types in the order of the load generator's result."""
    loads = [run.load["transactions"] for run in group.runs]
    total = sum(entry["count"] for load in loads for entry in load.values())
    profile = _profile(group)
    expected = expected_mix(profile) if profile else {}
    table_1 = paper.table_1().get(group.mix, {})
    found = []
    for name in loads[0]:
        entries = [load[name] for load in loads]
        count = sum(entry["count"] for entry in entries)
        spent_ns = sum(entry["count"] * entry["latency_ns"]["mean"] for entry in entries)
        buckets: Counter[int] = Counter()
        for entry in entries:
            buckets.update({int(upper): int(n) for upper, n in entry["histogram"]})
        found.append(
            Type(
                name=name,
                count=count,
                failed=sum(entry["failed"] for entry in entries),
                substituted=sum(entry["substituted"] for entry in entries),
                share=count / total if total else 0.0,
                expected=expected.get(name),
                table_1=table_1.get(name),
                mean_ms=spent_ns / count / 1e6 if count else 0.0,
                error_ms=standard_error(buckets) / 1e6,
                quantiles_ms=tuple(quantile(buckets, q) / 1e6 for q in QUANTILES),
            )
        )
    return found


def _profile(group: Group) -> Workload | None:
    """The run's workload profile with the driver that was used; None if the profile no longer exists."""
    run = group.runs[0]
    try:
        profile = load_workload(str(run.manifest["workload"]))
    except UserError:
        return None
    return profile.model_copy(update={"driver": run.load["driver"]}) if isinstance(profile, Mix) else profile


def standard_error(buckets: Mapping[int, int]) -> float:
    """Standard error of the mean of a histogram's values, each taken at its bucket's bound; 0 for fewer than two
    values."""
    n = sum(buckets.values())
    if n < 2:
        return 0.0
    mean = sum(upper * count for upper, count in buckets.items()) / n
    squares = sum(count * (upper - mean) ** 2 for upper, count in buckets.items())
    return math.sqrt(squares / (n - 1) / n)


def transactions_table(group: Group) -> Table:
    """One row per type. Counts are sums over the seeds; response times cover the transactions of all seeds."""
    found = types(group)
    profile = _profile(group)
    stated = ("Table 1",) if any(one.table_1 is not None for one in found) else ()
    times = ("mean ms", "p50 ms", "p90 ms", "p95 ms", "p99 ms")
    columns = ("count", "expected count", "share", "expected share", *stated, *times)
    table = Table(f"Transactions, {group.label}", columns)
    total = sum(one.count for one in found)
    what = profile.what if profile else {}
    for one in found:
        expected_count = ABSENT if one.expected is None else f"{one.expected * total:.0f}"
        shares = (one.share, one.expected, *([one.table_1] if stated else []))
        cells = [
            Cell(f"{one.count}"),
            Cell(expected_count),
            *(Cell(_percent(share)) for share in shares),
            *(Cell(f"{ms:,.1f}" if one.count else ABSENT, group.warm) for ms in (one.mean_ms, *one.quantiles_ms)),
        ]
        table.rows.append(Row(one.name, tuple(cells), title=what.get(one.name, "")))
    table.rows.append(Row("all", (Cell(f"{total}"), *[Cell("")] * (len(columns) - 1))))
    table.note = _note(group, found, profile)
    return table


def _note(group: Group, found: list[Type], profile: Workload | None) -> str:
    load = group.runs[0].load
    chain = load["driver"] == "chain"
    if load["driver"] == "scripts":
        return " ".join(
            [
                "Each row is a script; a transaction is the script's work between two waits. Times are simulated.",
                *_arrivals(group),
                *([f"{failed} transactions FAILED."] if (failed := sum(one.failed for one in found)) else []),
            ]
        )
    if profile and profile.protocol != "imap":
        driver = "the profile's Markov chain" if chain else "the profile's mix (independent draws)"
    else:
        driver = (
            "the Markov chain in Table 2 of Koka and Lipasti"
            if chain
            else "Table 1 of Koka and Lipasti (independent draws)"
        )
    words = [
        f"Transactions are drawn from {driver}. Expected: the long-run shares of this distribution. Times are "
        "simulated response times."
    ]
    if "move" in load:
        words.append(f"IMAP commands that move a message in the transaction MOVE: {load['move']}.")
    substituted = sum(one.substituted for one in found)
    if substituted:
        why = profile.SUBSTITUTED if profile else "because the drawn type was not possible"
        words.append(f"{substituted} transactions were executed as another type {why}.")
    total = sum(one.count for one in found)
    never = [one.name for one in found if not one.count and (one.expected or 0) * total >= WORTH_SAYING]
    if never:
        words.append(f"Not executed, although expected {WORTH_SAYING} times or more: {', '.join(never)}.")
    failed = sum(one.failed for one in found)
    if failed:
        words.append(f"{failed} transactions FAILED.")
    return " ".join(words)


def _arrivals(group: Group) -> list[str]:
    """A sentence per open-loop script (passes arrive at a fixed rate)."""
    loads = [run.load["arrivals"] for run in group.runs]
    return [
        f"Script {name}: {sum(load[name]['count'] for load in loads)} passes arrived; "
        f"{sum(load[name]['queued'] for load in loads)} of these passes had to wait for a free client, and "
        f"{sum(load[name]['waiting'] for load in loads)} still waited at the end."
        for name in loads[0]
    ]


def _percent(share: float | None) -> str:
    return ABSENT if share is None else f"{100 * share:.1f}%"
