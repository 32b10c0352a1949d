# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads snapshots.jsonl, the statistics that the plugin writes (docs/reference/interfaces/snapshots.md).

Counters grow from the first line to the last, so every number of a result is the difference of two snapshots.
`Snapshots.delta` computes the difference, and `Delta.by` sums it over all dimensions except the given ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.base.renamed import MARKS as RENAMED_MARKS
from s80lab.base.vocabulary import STATISTICS, Statistic

Counts = NDArray[np.int64]

SCHEMA = 2
FIRST_SCHEMA = 1
"""It had other marks (base/renamed.py)."""
LARGEST = 1 << 30
"""Largest size of the file in bytes."""
MARKS = ("load_begin", "sampling_interval", "measure_begin", "measure_end", "exit")

# Statistics that metrics and conservation checks need. gem5 does not record kernel entry causes.
REQUIRED = (
    *("instructions", "instruction_class", "accesses", "l1_misses", "l2_accesses", "l2_misses", "miss_source", "fills"),
    *("upgrades", "stores_found_e", "e_to_m", "e_downgraded", "e_evicted", "e_invalidated", "e_resident"),
    *("l2_evictions", "l2_writebacks", "l2_invalidations", "interventions", "stall_cycles", "busy_cycles"),
    *("transactions", "entry_instructions", "entry_miss_source", "entry_upgrades", "entry_stall_cycles"),
)
REQUIRED_OF_GEM5 = tuple(name for name in REQUIRED if "entry" not in STATISTICS[name].dims)


@dataclass(frozen=True)
class Header:
    """First line of the file. clock_hz: clock of the modelled cores in hertz. base_cpi: cycles per instruction without
    stalls (1 if the file has no value). engine: what counted, "model" or "gem5". in_flight: accesses of a core that may
    be incomplete at a snapshot (0 for the model, whose accesses are atomic). longest_lead_ns: largest lead of a
    processor over the clock; None: unbounded. memory_banks: banks that serve requests in parallel, if memory has
    queues."""

    cores: int
    line_bytes: int
    clock_hz: int
    base_cpi: float
    labels: Mapping[str, tuple[str, ...]]
    statistics: Mapping[str, Statistic]
    engine: str = "model"
    in_flight: int = 0
    threads_per_core: int = 1
    longest_lead_ns: int | None = None
    memory_banks: int = 1

    def shape(self, name: str) -> tuple[int, ...]:
        """Lengths of a statistic's dimensions."""
        return tuple(len(self.labels[dim]) for dim in self.statistics[name].dims)


@dataclass(frozen=True)
class Snapshot:
    """One line: all statistics since the model was switched on. Times are simulated nanoseconds. guest: counters of the
    guest kernel, empty if not read. clients_finished: clients that have completed a transaction since the start of the
    load; None if not counted."""

    mark: str
    index: int
    instructions: int
    clock_ns: int
    idle_ns: int
    values: Mapping[str, Counts]
    guest: Mapping[str, int] = field(default_factory=dict)
    clients_finished: int | None = None


@dataclass(frozen=True)
class Delta:
    """The difference of two snapshots; for a gauge, its change."""

    header: Header
    begin: Snapshot
    end: Snapshot

    @property
    def instructions(self) -> int:
        return self.end.instructions - self.begin.instructions

    @property
    def clock_ns(self) -> int:
        return self.end.clock_ns - self.begin.clock_ns

    @property
    def idle_ns(self) -> int:
        return self.end.idle_ns - self.begin.idle_ns

    @property
    def guest(self) -> dict[str, int]:
        """The guest kernel's counts between the two snapshots (guest/counters.py)."""
        return {name: value - self.begin.guest.get(name, 0) for name, value in self.end.guest.items()}

    def __getitem__(self, name: str) -> Counts:
        return np.asarray(self.end.values[name] - self.begin.values[name], dtype=np.int64)

    def only(self, **where: str) -> Delta:
        """The stretch with only the counts of the given labels, as in privilege="kernel". Statistics without these
        dimensions stay unchanged."""
        return replace(self, begin=self._only(self.begin, where), end=self._only(self.end, where))

    def except_for(self, dim: str, *labels: str) -> Delta:
        """The stretch with the counts of these labels set to 0. Statistics without the dimension stay unchanged."""
        places = [self.header.labels[dim].index(label) for label in labels]
        return replace(self, begin=self._zeroed(self.begin, dim, places), end=self._zeroed(self.end, dim, places))

    def _zeroed(self, snapshot: Snapshot, dim: str, places: Sequence[int]) -> Snapshot:
        kept = dict(snapshot.values)
        for name, statistic in self.header.statistics.items():
            if dim in statistic.dims:
                kept[name] = kept[name].copy()
                np.moveaxis(kept[name], statistic.dims.index(dim), 0)[places] = 0
        return replace(snapshot, values=kept)

    def _only(self, snapshot: Snapshot, where: Mapping[str, str]) -> Snapshot:
        for dim, label in where.items():
            labels = self.header.labels[dim]
            others = [place for place in range(len(labels)) if place != labels.index(label)]
            snapshot = self._zeroed(snapshot, dim, others)
        return snapshot

    def by(self, name: str, *dims: str) -> Counts:
        """The statistic with the axes `dims` in this order, summed over all other dimensions."""
        have = self.header.statistics[name].dims
        others = tuple(axis for axis, dim in enumerate(have) if dim not in dims)
        kept = [dim for dim in have if dim in dims]
        summed = np.asarray(self[name].sum(axis=others))
        return np.transpose(summed, [kept.index(dim) for dim in dims])

    def total(self, name: str, **where: str) -> int:
        """The statistic's sum over all elements, or over those with the given labels, as in kind="store"."""
        part = self.by(name, *where)
        for dim, label in where.items():
            part = np.asarray(part[self.header.labels[dim].index(label)])
        return int(part)


def without(stretch: Delta, part: Delta) -> Delta:
    """This stretch without a part of it: the counts of the stretch minus the counts of the part."""
    end = stretch.end
    return Delta(
        stretch.header,
        stretch.begin,
        Snapshot(
            end.mark,
            end.index,
            end.instructions - part.instructions,
            end.clock_ns - part.clock_ns,
            end.idle_ns - part.idle_ns,
            {name: values - part[name] for name, values in end.values.items()},
            {name: value - part.guest.get(name, 0) for name, value in end.guest.items()},
        ),
    )


# Process classes (src/base/types.h): the relay of a program's output has the class of a load generator.
RELAY, IDLE = "loadgen", "idle"


def program_of(region: Delta) -> Delta:
    """The region of a program's run without idle processors and the relay of the program's output."""
    return region.except_for("class", RELAY, IDLE)


@dataclass(frozen=True)
class Snapshots:
    """A complete file."""

    path: Path
    header: Header
    lines: tuple[Snapshot, ...]

    @classmethod
    def read(cls, path: Path, growing: bool = False) -> Snapshots:
        """Reads and checks the file. UserError names the file, the line and the problem. growing: the plugin still
        writes the file, so an incomplete last line is ignored."""
        try:
            text = read_regular(path, LARGEST, "run the experiment again").decode()
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: cannot be read ({error}); run the experiment again") from None
        lines = text.split("\n")
        if lines.pop() != "" and not growing:
            raise UserError(
                f"{path}, line {len(lines) + 1}: the line is incomplete because the run was interrupted; repeat the run"
            )
        if len(lines) < 2:
            raise UserError(f"{path}: contains no snapshot, because the run ended before the first one; repeat the run")
        header = _header(f"{path}, line 1", _json(f"{path}, line 1", lines[0]))
        snapshots = tuple(
            _snapshot(f"{path}, line {number}", _json(f"{path}, line {number}", line), header)
            for number, line in enumerate(lines[1:], start=2)
        )
        return cls(path, header, snapshots)

    def delta(self, a: int | str | Snapshot, b: int | str | Snapshot) -> Delta:
        """The difference from snapshot a to snapshot b, each given as a position, a mark or a snapshot."""
        return Delta(self.header, self._find(a), self._find(b))

    def whole(self) -> Delta:
        """From the first snapshot to the last."""
        return self.delta(0, -1)

    def region(self) -> Delta:
        """The measured region: the sum of all parts if a program began it several times."""
        region = self.delta("measure_begin", "measure_end")
        marked = [line for line in self.lines if line.mark in ("measure_begin", "measure_end")]
        if len(marked) <= 2:
            return region
        last = marked[-1] if marked[-1].mark == "measure_end" else self.lines[-1]
        region = self.delta(marked[0], last)
        for end, begin in zip(marked[1::2], marked[2::2], strict=False):
            region = without(region, self.delta(end, begin))
        return region

    @property
    def region_count(self) -> int:
        """How often the measured region began."""
        return sum(line.mark == "measure_begin" for line in self.lines)

    def intervals(self) -> list[Delta]:
        """The sampling intervals: stretches between neighbouring snapshots in which instructions retired."""
        pairs = zip(self.lines, self.lines[1:], strict=False)
        return [Delta(self.header, a, b) for a, b in pairs if b.instructions > a.instructions]

    def has(self, mark: str) -> bool:
        return any(snapshot.mark == mark for snapshot in self.lines)

    def _find(self, key: int | str | Snapshot) -> Snapshot:
        if isinstance(key, Snapshot):
            return key
        if isinstance(key, int):
            return self.lines[key]
        for snapshot in self.lines:
            if snapshot.mark == key:
                return snapshot
        raise UserError(f"{self.path}: no snapshot has the mark {key}, because the run ended too early; repeat the run")


def _json(where: str, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise UserError(f"{where}: is not valid JSON ({error.msg} at column {error.colno}); repeat the run") from None
    if not isinstance(value, dict):
        raise UserError(f"{where}: must be a JSON object; repeat the run")
    return value


def _need(where: str, line: Mapping[str, Any], keys: Sequence[str]) -> Iterator[Any]:
    for key in keys:
        if key not in line:
            raise UserError(
                f"{where}: has no `{key}`; plugin and scripts have different versions; build the plugin again "
                "with `make build`"
            )
        yield line[key]


def _header(where: str, line: Mapping[str, Any]) -> Header:
    (schema,) = _need(where, line, ["schema"])
    if schema not in (FIRST_SCHEMA, SCHEMA):
        raise UserError(
            f"{where}: has schema {schema}, but this version of s80lab reads schema {SCHEMA}; build the plugin "
            "again with `make build`, then repeat the run"
        )
    cores, line_bytes, clock_hz, dims, stats = _need(where, line, ["cores", "line_bytes", "clock_hz", "dims", "stats"])
    engine = str(line.get("engine", "model"))
    labels = {str(dim): tuple(map(str, names)) for dim, names in dims.items()}
    labels["core"] = tuple(str(core) for core in range(cores))
    declared: dict[str, Statistic] = {}
    for stat in stats:
        name, unit, stat_dims, description = _need(where, stat, ["name", "unit", "dims", "description"])
        for dim in stat_dims:
            if dim not in labels:
                raise UserError(f"{where}: statistic `{name}` has the undeclared dimension `{dim}`")
        declared[name] = Statistic(name, unit, tuple(stat_dims), description, bool(stat.get("gauge", False)))
    for name in REQUIRED_OF_GEM5 if engine == "gem5" else REQUIRED:
        needed = STATISTICS[name].dims
        if name not in declared:
            raise UserError(
                f"{where}: does not declare the statistic `{name}`; build the plugin again with `make build`"
            )
        # gem5 does not say by core who answered a miss and how long it took.
        if declared[name].dims != needed and not (engine == "gem5" and declared[name].dims == needed[1:]):
            raise UserError(
                f"{where}: statistic `{name}` has the dimensions {', '.join(declared[name].dims)}, but must "
                f"have {', '.join(needed)}; build the plugin again with `make build`"
            )
    base_cpi = float(line.get("base_cpi", 1.0))
    in_flight = int(line.get("in_flight", 0))
    threads = int(line.get("threads_per_core", 1))
    lead = line.get("longest_lead_ns")
    return Header(
        *(int(cores), int(line_bytes), int(clock_hz), base_cpi, labels, declared, engine, in_flight, threads),
        None if lead is None else int(lead),
        int(line.get("memory_banks", 1)),
    )


def _snapshot(where: str, line: Mapping[str, Any], header: Header) -> Snapshot:
    mark, index, instructions, clock_ns, idle_ns, values = _need(
        where, line, ["mark", "index", "instructions", "clock_ns", "idle_ns", "values"]
    )
    mark = RENAMED_MARKS.get(mark, mark)
    if mark not in MARKS:
        raise UserError(f"{where}: unknown mark `{mark}`, allowed are {', '.join(MARKS)}")
    arrays: dict[str, Counts] = {}
    for name in header.statistics:
        if name not in values:
            raise UserError(f"{where}: the statistic `{name}` is missing; repeat the run")
        shape = header.shape(name)
        try:
            flat = np.array(values[name], dtype=np.int64)
        except (ValueError, TypeError, OverflowError):
            raise UserError(
                f"{where}: statistic `{name}` has values that are not 64-bit whole numbers; repeat the run"
            ) from None
        if flat.ndim != 1 or flat.size != int(np.prod(shape)):
            raise UserError(
                f"{where}: statistic `{name}` has {flat.size} values, but its dimensions need {int(np.prod(shape))}"
            )
        arrays[name] = flat.reshape(shape)
    guest = {str(name): int(value) for name, value in line.get("guest", {}).items()}
    finished = line.get("clients_finished")
    return Snapshot(mark, int(index), int(instructions), int(clock_ns), int(idle_ns), arrays, guest, finished)
