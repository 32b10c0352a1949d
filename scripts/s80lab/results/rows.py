# SPDX-License-Identifier: GPL-2.0-or-later
"""The database rows of one run, made from its manifest, its statistics and the load generator's result."""

from __future__ import annotations

import itertools
import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from s80lab.base.vocabulary import LABELS, STATISTICS
from s80lab.results.identity import identity
from s80lab.results.metrics.derive import find_metric
from s80lab.results.metrics.standing import standing_of

_RUN = (
    *("experiment", "engine", "machine", "protocol", "server", "workload", "scale", "seed"),
    *("instructions", "simulated_ns", "mips", "wall_s"),
)
_CORE = (
    *("instructions", "busy_cycles", "l2_misses", "fills", "e_to_m", "e_downgraded", "e_evicted"),
    *("e_invalidated", "e_resident", "l2_evictions", "l2_writebacks", "l2_invalidations", "interventions"),
)
_TRANSACTION = ("count", "started", "failed", "substituted", "bytes_in", "bytes_out")
_LATENCY = ("mean", "p50", "p90", "p95", "p99", "max")
_INTERVAL = (
    *("phase", "end_instructions", "instructions", "clock_ns", "misses", "memory_misses"),
    *("fills", "fills_e", "e_to_m"),
)

# In the order of the columns of the table `counter`: queries group by class, then by privilege.
_DIMS = ("class", *(dim for dim in LABELS if dim != "class"))
_OF_RUN = {"counter": "statistic IN (SELECT name FROM statistic) AND run = ?"}
"""What selects the rows of a run from a table in which the run is not the first column of the key."""

Row = Sequence[Any]
_COLUMNS = (
    *("id", *_RUN, "capture", "form", "clients", "think_ms", "warmup", "status", "reasons", "folder"),
    *("image", "differences", "boot", "design"),
)


@dataclass(frozen=True)
class RunRecord:
    """The content of a run's folder. load: the load generator's result, None for a replay. folder: path relative to the
    database."""

    manifest: Mapping[str, Any]
    stats: Mapping[str, Any]
    load: Mapping[str, Any] | None
    folder: str

    def columns(self) -> tuple[Any, ...]:
        """The run's row in the table `run`, without the time of entry."""
        manifest, stats = self.manifest, self.stats
        job = manifest.get("capture", {}) if self.load is None else self.load
        found = {key: manifest[key] for key in _RUN} | identity(manifest, stats)
        found |= {
            "id": manifest["run"],
            "clients": job.get("clients"),
            "think_ms": job.get("think_ms"),
            "warmup": stats["warmup"]["verdict"],
            "reasons": "; ".join(standing_of(stats)[1]),
            "folder": self.folder,
        }
        return tuple(found[column] for column in _COLUMNS)


def delete_and_insert(connection: sqlite3.Connection, run: RunRecord) -> None:
    """Replaces the run's rows. The caller has begun the transaction."""
    name = run.manifest["run"]
    connection.execute("DELETE FROM run WHERE id = ?", (name,))
    connection.execute(
        f"INSERT INTO run ({', '.join(_COLUMNS)}, created) "
        f"VALUES ({', '.join('?' * len(_COLUMNS))}, coalesce(?, datetime('now')))",
        (*run.columns(), run.manifest.get("created")),
    )
    connection.executemany("INSERT OR REPLACE INTO statistic VALUES (?, ?, ?)", _statistics(run))
    for table, rows in _tables(run):
        whole = [(name, *row) for row in rows]
        if whole:
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(whole[0]))})", whole)


def is_entered(connection: sqlite3.Connection, run: RunRecord) -> bool:
    """Whether the database holds exactly these rows of the run."""
    name = run.manifest["run"]
    there = connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM run WHERE id = ?", (name,)).fetchone()
    if there != run.columns():
        return False
    for table, rows in _tables(run):
        entered = connection.execute(f"SELECT * FROM {table} WHERE {_OF_RUN.get(table, 'run = ?')}", (name,)).fetchall()
        if Counter(entered) != Counter((name, *row) for row in rows):
            return False
    return True


def check_rows(run: RunRecord) -> None:
    """Makes all rows and discards them. Raises LookupError, TypeError, ValueError or AttributeError if the run's files
    have an unexpected format, or a value that the database cannot store."""
    for table, rows in (("run", [run.columns()]), *_tables(run)):
        for row in rows:
            for value in row:
                if not _is_storable(value):
                    raise ValueError(f"a value for the table {table} cannot be stored: {ascii(value)[:40]}")


def _is_storable(value: object) -> bool:
    """Whether the database can store the value and return it unchanged."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, int) and -(1 << 63) <= value < 1 << 63)


def _tables(run: RunRecord) -> Iterator[tuple[str, Iterable[Row]]]:
    manifest, stats, load = run.manifest, run.stats, run.load
    yield "input", manifest["inputs"].items()
    yield "version", manifest["versions"].items()
    yield "design", manifest.get("design", {}).items()
    yield "filter_error", (manifest.get("filter_error") or {}).get("errors", {}).items()
    yield "metric", ((name, find_metric(name).unit, value) for name, value in stats["metrics"].items())
    region = stats["region"]
    yield "counter", _counted(region)
    columns = [region["by_core"][name] for name in _CORE]
    yield "core", ((core, *values) for core, values in enumerate(zip(*columns, strict=True)))
    if load is not None:
        yield "transaction_type", _transactions(load["transactions"])
        yield "latency", _latencies(load["transactions"])
    yield (
        "sampling_interval",
        (
            (number, *(interval[key] for key in _INTERVAL))
            for number, interval in enumerate(stats["sampling_intervals"])
        ),
    )


def _statistics(run: RunRecord) -> Iterator[Row]:
    for name in run.stats["region"]["totals"]:
        known = STATISTICS.get(name)
        yield name, known.unit if known else "", known.description if known else ""


def _counted(region: Mapping[str, Any]) -> Iterator[Row]:
    for name, entry in region["totals"].items():
        dims = tuple((dim, tuple(region["labels"][dim])) for dim in entry["dims"])
        if math.prod(len(labels) for _, labels in dims) != len(entry["values"]):
            raise ValueError(f"the statistic {name} has {len(entry['values'])} values, which its labels do not explain")
        for place, value in zip(_places(dims), entry["values"], strict=True):
            yield (name, *place, value)


@cache
def _places(dims: tuple[tuple[str, tuple[str, ...]], ...]) -> list[Row]:
    """The labels of each count of a statistic over these dimensions, one for each of _DIMS."""
    names = [dim for dim, _ in dims]
    places = (dict(zip(names, place, strict=True)) for place in itertools.product(*(labels for _, labels in dims)))
    return [tuple(place.get(dim, "") for dim in _DIMS) for place in places]


def _transactions(transactions: Mapping[str, Any]) -> Iterator[Row]:
    for name, entry in transactions.items():
        yield (
            *(name, *(entry[key] for key in _TRANSACTION)),
            *(entry["latency_ns"][key] for key in _LATENCY),
        )


def _latencies(transactions: Mapping[str, Any]) -> Iterator[Row]:
    for name, entry in transactions.items():
        for upper_ns, count in entry["histogram"]:
            yield name, upper_ns, count
