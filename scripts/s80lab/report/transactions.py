# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of a group's transactions by type, and of their commands."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from s80lab.analysis.groups import Group
from s80lab.analysis.transactions import QUANTILES, Type, profile_of, types
from s80lab.base.format import ABSENT
from s80lab.base.histogram import quantile
from s80lab.config.mix import Workload
from s80lab.report.tables import Cell, Row, Table

# A type that was expected this often and was never executed is named in the note.
WORTH_SAYING = 5


def transactions_table(group: Group) -> Table:
    """One row per type. Counts are sums over the seeds; response times cover the transactions of all seeds."""
    found = types(group)
    profile = profile_of(group)
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


def _note(group: Group, found: Sequence[Type], profile: Workload | None) -> str:
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


_COLUMNS = ("count", "mean ms", "p50 ms", "p90 ms", "p95 ms", "p99 ms")


@dataclass
class _Command:
    count: int = 0
    spent_ns: int = 0
    buckets: Counter[int] = field(default_factory=Counter)


def commands_tables(groups: Sequence[Group]) -> list[Table]:
    """One table for each group whose clients run scripts."""
    return [commands_table(group) for group in groups if not group.replayed and "commands" in group.runs[0].load]


def commands_table(group: Group) -> Table:
    """One row per command and message size. Counts are sums over the seeds; times cover the commands of all seeds."""
    found: dict[tuple[str, str, int], _Command] = defaultdict(_Command)
    for run in group.runs:
        for entry in run.load["commands"]:
            one = found[entry["protocol"], entry["command"], entry.get("bytes", 0)]
            one.count += entry["count"]
            one.spent_ns += entry["count"] * entry["latency_ns"]["mean"]
            one.buckets.update({int(upper): int(count) for upper, count in entry["histogram"]})
    table = Table(f"Commands, {group.label}", _COLUMNS)
    table.note = (
        "Simulated time from sending a command to the end of its answer. A number after a command is the message size "
        "in bytes."
    )
    for (protocol, name, size), one in sorted(found.items()):
        times = (one.spent_ns / one.count, *(quantile(one.buckets, share) for share in QUANTILES))
        cells = (Cell(f"{one.count}"), *(Cell(f"{time / 1e6:,.2f}", group.warm) for time in times))
        table.rows.append(Row(f"{protocol} {name}" + (f" {size}" if size else ""), cells))
    return table
