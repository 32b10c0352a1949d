# SPDX-License-Identifier: GPL-2.0-or-later
"""Converts a run of gem5 to s80lab's format: stats.txt, with one dump per sampling interval, becomes snapshots.jsonl.

gem5 does not distinguish privilege levels and process classes: all its counters have the labels `any`. Where Ruby does
not distinguish loads from instruction fetches the kind is `read`. docs/reference/gem5.md lists the numbers that are
estimates.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from s80lab.base.errors import UserError
from s80lab.base.vocabulary import LABELS, STATISTICS
from s80lab.config.machine import Machine
from s80lab.gem5 import table
from s80lab.gem5.binary import PROTOCOL
from s80lab.gem5.stats import NOTHING, Dump, Row, read_dumps
from s80lab.results.conservation import READ
from s80lab.results.run_folder import renewed
from s80lab.results.snapshots import REQUIRED_OF_GEM5, SCHEMA

ANY = "any"
_ONLY_MODEL = {"service": ("issue", "order", "llc", "group"), "source": ("llc", "group")}
"""Waits that the model's clock charges, and gem5 does not; and parts that MOESI_hammer lacks."""
_MORE = {"privilege": (ANY,), "class": (ANY,), "kind": (READ,)}
DIMS: Mapping[str, tuple[str, ...]] = {
    dim: tuple(label for label in LABELS[dim] if label not in _ONLY_MODEL.get(dim, ())) + _MORE.get(dim, ())
    for dim in LABELS
    if any(dim in STATISTICS[name].dims for name in REQUIRED_OF_GEM5)
}
# Of all cores together: gem5 does not say whose.
WITHOUT_CORE = ("miss_source", "stall_cycles")
# Accesses of a core that may be under way when an interval ends, at either end.
IN_FLIGHT = 2

Values = dict[str, NDArray[np.int64]]


@dataclass(frozen=True)
class Facts:
    """The contents of facts.json, which the simulation's script writes. rows: as `renamed` of read_dumps."""

    gem5: str
    protocol: str
    processors: int
    sampling_intervals: Sequence[Mapping[str, Any]]
    rows: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> Facts:
        try:
            content = renewed(json.loads(path.read_text(encoding="utf-8")))
            needed = {key: content[key] for key in ("gem5", "protocol", "processors", "sampling_intervals")}
            facts = cls(**needed, rows=content.get("rows", NOTHING))
        except (OSError, ValueError, KeyError) as error:
            raise UserError(
                f"{path}: is not the record of a complete run of gem5 ({error!r}); repeat the run"
            ) from None
        if facts.protocol != PROTOCOL:
            raise UserError(
                f"{path}: was written by gem5 {facts.gem5} with protocol {facts.protocol}, but s80lab supports "
                f"only {PROTOCOL}: repeat the run with a gem5 that has it"
            )
        return facts


def write_snapshots(out: Path, machine: Machine, warm_up: int, target: Path) -> None:
    """Read stats.txt and facts.json in `out` and write the snapshots. The first sampling intervals, `warm_up`
    instructions, are the warm-up and do not belong to the region."""
    facts = Facts.read(out / "facts.json")
    dumps = list(read_dumps(out / "stats.txt", facts.rows))
    if len(dumps) != len(facts.sampling_intervals):
        raise UserError(
            f"{out / 'stats.txt'}: the file has {len(dumps)} dumps of statistics instead of "
            f"{len(facts.sampling_intervals)}, one per sampling interval: repeat the run"
        )
    intervals = [
        (*_interval(dump, machine, interval.get("transactions", {})), interval.get("calls", {}))
        for dump, interval in zip(dumps, facts.sampling_intervals, strict=True)
    ]
    lines = list(_lines(intervals, warm_up))
    base_cpi = _base_cpi(lines[-1]["values"])
    partial = target.with_name(target.name + ".partial")
    with partial.open("w", encoding="utf-8") as file:
        for line in (_header(machine, base_cpi), *lines):
            file.write(json.dumps(line, separators=(",", ":"), default=_plain) + "\n")
    partial.rename(target)


def _plain(value: Any) -> Any:
    return value.reshape(-1).tolist() if isinstance(value, np.ndarray) else int(value)


def _header(machine: Machine, base_cpi: float) -> dict[str, Any]:
    stats = [
        {
            "name": name,
            "unit": "counts",
            "dims": list(_dims(name)),
            "gauge": name in STATISTICS and STATISTICS[name].gauge,
            "description": "as gem5 counts it: docs/reference/gem5.md",
        }
        for name in (*REQUIRED_OF_GEM5, "operations")
    ]
    return {
        "schema": SCHEMA,
        "engine": "gem5",
        "in_flight": IN_FLIGHT,
        "cores": machine.processors.count // machine.processors.threads_per_core,
        "line_bytes": machine.line_bytes,
        "clock_hz": machine.processors.clock_hz,
        "base_cpi": base_cpi,
        "protocol": "hammer",
        "dims": {dim: list(labels) for dim, labels in DIMS.items()},
        "stats": stats,
    }


def _dims(name: str) -> tuple[str, ...]:
    if name == "operations":
        return ("core",)
    return tuple(dim for dim in STATISTICS[name].dims if not (dim == "core" and name in WITHOUT_CORE))


def _lines(intervals: Sequence[tuple[int, int, Values, Mapping[str, int]]], warm_up: int) -> Iterator[dict[str, Any]]:
    """All lines of the file after its header. The counters only grow."""
    total: Values = {name: np.zeros_like(values) for name, values in intervals[0][2].items()}
    guest: Counter[str] = Counter()
    instructions = clock_ns = 0
    marked = False

    def line(mark: str, index: int) -> dict[str, Any]:
        values = {name: values.copy() for name, values in total.items()}
        return {
            "mark": mark,
            "index": index,
            "instructions": instructions,
            "clock_ns": clock_ns,
            "idle_ns": 0,
            "values": values,
            "guest": dict(guest),
        }

    yield line("load_begin", 0)
    for index, (count, ns, values, calls) in enumerate(intervals, start=1):
        if not marked and instructions >= warm_up:
            marked = True
            yield line("measure_begin", index - 1)
        instructions += count
        clock_ns += ns
        for name, added in values.items():
            total[name] += added
        guest.update(calls)
        yield line("sampling_interval", index)
    if not marked:
        raise UserError(
            f"gem5's run ended after {instructions} instructions, before the end of its warm-up of {warm_up} "
            "instructions: repeat the run"
        )
    yield line("measure_end", len(intervals))


def _base_cpi(values: Values) -> float:
    """Cycles per instruction that no memory access explains, over the whole run."""
    instructions = int(values["instructions"].sum())
    return float(values["busy_cycles"].sum() - values["stall_cycles"].sum()) / max(1, instructions)


def _interval(dump: Dump, machine: Machine, ended: Mapping[str, int]) -> tuple[int, int, Values]:
    """Instructions, simulated nanoseconds and all statistics of one dump. ended: transactions by work item."""
    cores = machine.processors.count // machine.processors.threads_per_core
    threads = machine.processors.threads_per_core
    values: Values = {name: _zeros(name, cores) for name in (*REQUIRED_OF_GEM5, "operations")}

    def put(name: str, counts: NDArray[np.int64] | int, **where: str) -> None:
        values[name][_element_index(name, **where)] += counts

    def by_core(rows: Sequence[str]) -> NDArray[np.int64]:
        return np.asarray(np.sum([dump.vector(row, cores) for row in rows], axis=0), dtype=np.int64)

    ticks = dump.scalar(table.TICKS)
    # A processor that did nothing has no row of instructions, but one of operations.
    idle: dict[str, Row] = dict.fromkeys(dump.matching(table.OPERATIONS), (0.0,))

    def by_processor(pattern: str, scale: float = 1.0) -> NDArray[np.int64]:
        found = dump.matching(pattern)
        if pattern == table.INSTRUCTIONS:
            found = idle | found
        if len(found) != machine.processors.count:
            raise UserError(
                f"{dump.where}: there are rows `{pattern}` for {len(found)} processors instead of "
                f"{machine.processors.count}: repeat the run"
            )
        in_order = sorted(found, key=lambda number: int(number or 0))
        counts = np.rint([found[key][0] * scale for key in in_order]).astype(np.int64)
        return np.asarray(counts.reshape(cores, threads).sum(axis=1), dtype=np.int64)

    check_events(dump, cores)
    for name, kinds in table.ACCESSES.items():
        for kind, rows in kinds.items():
            put(name, by_core(rows), kind=kind)
    for (kind, state), rows in table.FILLS.items():
        put("fills", by_core(rows), kind=kind, state=state)
    lost = by_core(table.UPGRADES_LOST)
    put("upgrades", by_core(table.UPGRADES) - lost)
    put("l2_misses", lost, kind="store")
    put("fills", lost, kind="store", state="M")
    for name, rows in table.COUNTS.items():
        put(name, by_core(rows))
    values["stores_found_e"][_element_index("stores_found_e")] = values["e_to_m"][_element_index("e_to_m")]
    entered = values["fills"][:, :, DIMS["kind"].index(READ), DIMS["state"].index("E")]
    left = sum(values[name] for name in ("e_to_m", "e_downgraded", "e_evicted", "e_invalidated"))
    values["e_resident"] = entered - left

    for (kind, source), count in _sources(dump, cores).items():
        put("miss_source", count, kind=kind, source=source)
    for kind, service, cycles in _stalls(dump):
        put("stall_cycles", cycles, kind=kind, service=service)

    instructions = by_processor(table.INSTRUCTIONS)
    put("instructions", instructions)
    available = ticks / table.TICKS_PER_S * machine.processors.clock_hz
    put("busy_cycles", by_processor(table.BUSY_FRACTION, available))
    operations = by_processor(table.OPERATIONS)
    values["operations"] += operations
    classes = {
        name: sum(int(_sum(dump, table.OPERATION_TYPE.format(name=row))) for row in rows)
        for name, rows in table.CLASSES.items()
    } | {name: int(_sum(dump, table.CONTROL.format(name=row))) for name, row in table.BRANCHES.items()}
    for name, count in (classes | {"other": int(operations.sum()) - sum(classes.values())}).items():
        put("instruction_class", count, instruction=name)
    for number, name in enumerate(DIMS["transaction"]):
        for outcome, item in (("good", number), ("failed", table.FAILED + number)):
            put("transactions", int(ended.get(str(item), 0)), transaction=name, outcome=outcome)
    return int(instructions.sum()), round(ticks / table.TICKS_PER_NS), values


def check_events(dump: Dump, cores: int) -> None:
    """Check that every event's row is the sum of its rows by state. The check finds missing rows, and states that the
    table does not have."""
    for kind, event in table.EVENTS.items():
        row = table.CACHE + event
        if row not in dump.rows:
            raise UserError(f"{dump.where}: the row `{row}` is missing; repeat the run")
        known = set(table.ACCESSES["accesses"][kind]) | {f"{table.CACHE}{state}.{event}" for state in table.STALLED}
        known |= {f"{table.CACHE}{state}.{event}" for state in table.STALLED_STORES}
        rows = dump.matching(f"({table.CACHE.replace('.', '[.]')}[A-Z_0-9]+[.]{event})")
        for name in sorted(rows.keys() - known):
            raise UserError(
                f"{dump.where}: s80lab does not know the cache state in the row `{name}`: add the state to "
                "scripts/s80lab/gem5/table.py"
            )
        counted = np.sum([np.array(dump.vector(name, cores)) for name in rows], axis=0)
        if not np.array_equal(counted, np.array(dump.vector(row, cores))):
            raise UserError(
                f"{dump.where}: the rows STATE.{event} do not add up to the row `{row}`, so one of them is "
                "missing: repeat the run"
            )


def _sources(dump: Dump, cores: int) -> dict[tuple[str, str], int]:
    """The sources of the misses. Stores that held a copy in S are upgrades, not misses. Ruby does not record who sent
    them data: memory, if other copies existed, or an owner in O. They are subtracted from both in proportion."""

    def total(rows: table.Names) -> int:
        return sum(int(sum(dump.vector(row, 1 if row.startswith(table.DIRECTORY) else cores))) for row in rows)

    counts = {place: total(rows) for place, rows in table.SOURCES.items()}
    upgrades = total(table.UPGRADES_FROM_S) - total(table.UPGRADES_LOST_IN_S)
    memory, owners = total(table.STORES_WITH_COPIES), counts["store", "O"]
    from_memory = round(upgrades * memory / (memory + owners)) if memory + owners else 0
    counts["store", "memory"] -= min(memory, from_memory)
    counts["store", "O"] -= min(owners, upgrades - from_memory)
    return counts


def _stalls(dump: Dump) -> Iterator[tuple[str, str, int]]:
    """Stall cycles by kind and by the place that serviced the access. A store counts by the sender of its last answer.
    Stores that held a copy are counted in the same way."""
    for kind, requests in table.REQUESTS.items():
        for service, histograms in table.SERVICES.items():
            cycles = 0.0
            for request in requests:
                for histogram in histograms:
                    samples = dump.number(table.latency_row(request, histogram, "samples"))
                    mean = dump.number(table.latency_row(request, histogram, "mean")) if samples else 0.0
                    cycles += samples * max(0.0, mean - table.L1_LATENCY)
            yield kind, service, round(cycles)


def _sum(dump: Dump, pattern: str) -> float:
    return sum(row[0] for row in dump.matching(pattern).values())


def _zeros(name: str, cores: int) -> NDArray[np.int64]:
    return np.zeros([cores if dim == "core" else len(DIMS[dim]) for dim in _dims(name)], dtype=np.int64)


def _element_index(name: str, **where: str) -> tuple[int | slice, ...]:
    """The index of a statistic's element: all cores, the given labels, and `any` where gem5 makes no distinction."""
    index: list[int | slice] = []
    for dim in _dims(name):
        if dim == "core":
            index.append(slice(None))
        else:
            index.append(DIMS[dim].index(where.get(dim, ANY)))
    return tuple(index)
