# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of the commands that a group's scripts sent: counts and response times over all seeds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from s80lab.analysis.groups import Group
from s80lab.analysis.transactions import QUANTILES
from s80lab.base.histogram import quantile
from s80lab.report.tables import Cell, Row, Table

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
