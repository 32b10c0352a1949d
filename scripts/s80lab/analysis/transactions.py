# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions by type over the seeds of a group: the executed mix and the response times."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from s80lab.analysis.groups import Group
from s80lab.base.errors import UserError
from s80lab.base.histogram import quantile
from s80lab.config.mix import Mix, Workload
from s80lab.config.workload import expected_mix, load_workload
from s80lab.results import paper
from s80lab.results.run_folder import TRANSACTIONS

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
    for run, load in zip(group.runs, loads, strict=True):
        if load.keys() != loads[0].keys():
            other = ", ".join(sorted(load.keys() ^ loads[0].keys()))
            raise UserError(
                f"{run.folder / TRANSACTIONS}: has other transaction types than {group.runs[0].name} ({other}); repeat "
                "the run"
            )
    total = sum(entry["count"] for load in loads for entry in load.values())
    profile = profile_of(group)
    expected = expected_mix(profile) if profile else {}
    table_1 = paper.table_1().get(group.workload, {})
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


def profile_of(group: Group) -> Workload | None:
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
