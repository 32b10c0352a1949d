# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of a program's runs (`s80lab exec`): what ran, and the counts that its report shows.

A name has one run for each boot and seed: results/exec/NAME/boot-1-seed-1. Names of variables and functions are looked
up once, when the run ends, because the program's files may change afterwards.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from s80lab.analysis.misses import store
from s80lab.analysis.misses.memory import read_map
from s80lab.analysis.misses.processes import read_processes
from s80lab.analysis.misses.sums import read_sums
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.files import read_regular
from s80lab.base.version import __version__
from s80lab.base.vocabulary import LABELS
from s80lab.config.machine import Machine, load_machine_text
from s80lab.exec.compiled import read_compiled
from s80lab.exec.contention import Access, Contention, Line, contention_of
from s80lab.exec.image import plain_folder
from s80lab.exec.names import Names
from s80lab.exec.run import MACHINE, MAPPINGS, SNAPSHOTS, SUMS, Ended
from s80lab.guest.kernel.facts import load_kernel
from s80lab.results.run_folder import MEMORY_MAP
from s80lab.results.snapshots import IDLE, RELAY, Delta, Snapshots, program_of


@dataclass(frozen=True)
class Side:
    """User or kernel code of the program. misses: L2 misses by source. cpi: cycles per instruction by part; `base` and
    the services of stalls."""

    instructions: int
    accesses: int
    l1_misses: int
    l2_misses: int
    misses: Mapping[str, int]
    upgrades: int
    invalidations: int
    cycles: float
    cpi: Mapping[str, float]

    @property
    def transfers(self) -> int:
        """Misses that another cache serviced."""
        return sum(self.misses[state] for state in LABELS["state"])


@dataclass(frozen=True)
class Counts:
    """all: user and kernel code of the program, without idle processors and the relay of its output. relay, idle:
    their instructions. simulated_ns: length of the region. utilisation: busy share of all processors."""

    all: Side
    user: Side
    kernel: Side
    relay: int
    idle: int
    simulated_ns: int
    wait_error: float

    def record(self) -> dict[str, object]:
        return asdict(self)


def counts_of(region: Delta) -> Counts:
    """The counts of a measured region."""
    program = program_of(region)
    busy = region.total("busy_cycles")
    return Counts(
        all=_side(program),
        user=_side(program, privilege="user"),
        kernel=_side(program, privilege="kernel"),
        relay=region.total("instructions", **{"class": RELAY}),
        idle=region.total("instructions", **{"class": IDLE}),
        simulated_ns=region.clock_ns,
        wait_error=region.total("wait_error_cycles") / busy if busy else 0.0,
    )


def _side(program: Delta, **where: str) -> Side:
    labels = program.header.labels
    total = program.total
    instructions = total("instructions", **where)
    stalls = {service: total("stall_cycles", service=service, **where) for service in labels["service"]}
    base = instructions * program.header.base_cpi
    cycles = base + sum(stalls.values())
    parts = {"base": base, **{service: cost for service, cost in stalls.items() if cost or service != "issue"}}
    return Side(
        instructions=instructions,
        accesses=total("accesses", **where),
        l1_misses=total("l1_misses", **where),
        l2_misses=total("l2_misses", **where),
        misses={source: total("miss_source", source=source, **where) for source in labels["source"]},
        upgrades=total("upgrades", **where),
        invalidations=total("invalidations_sent", **where),
        cycles=cycles,
        cpi={name: cost / instructions if instructions else 0.0 for name, cost in parts.items()},
    )


RECORD, REPORT = "exec.json", "report.json"
SCHEMA = 1
AGAIN = "run the program again"
LARGEST, LARGEST_REPORT = 16 << 20, 1 << 30


def exec_folder(name: str) -> Path:
    """The folder of the runs with that name."""
    return paths.results() / "exec" / name


def run_name(boot: int, seed: int) -> str:
    """The name of a run's folder."""
    return f"boot-{boot}-seed-{seed}"


@dataclass(frozen=True)
class Record:
    """What ran. words: the program and its arguments. machine, protocol: their names. settings: keys of the machine
    with other values than in its file. region: what was measured, in words; per: the function by whose calls counts
    are divided; complete: false if the run was ended before the program."""

    name: str
    words: Sequence[str]
    machine: str
    protocol: str
    settings: Mapping[str, Any]
    region: str
    per: str
    seed: int
    boot: int
    code: int
    in_time: bool
    complete: bool
    inputs: Mapping[str, str]
    files: Mapping[str, str]
    schema: int = SCHEMA
    version: str = __version__

    @classmethod
    def from_run(cls, ended: Ended, **entries: Any) -> Record:
        return cls(code=ended.code, in_time=ended.in_time, complete=ended.complete, **entries)


@dataclass(frozen=True)
class ExecRun:
    """A run in its folder. UserError from each property: a file is missing or damaged."""

    folder: Path

    @cached_property
    def record(self) -> Record:
        path = self.folder / RECORD
        try:
            return Record(**json.loads(read_regular(path, LARGEST, AGAIN)))
        except (ValueError, TypeError):
            raise UserError(f"{path}: is not the record of a run; {AGAIN}") from None

    @cached_property
    def machine(self) -> Machine:
        path = self.folder / MACHINE
        return load_machine_text(path.read_text(), str(path))

    @cached_property
    def snapshots(self) -> Snapshots:
        return Snapshots.read(self.folder / SNAPSHOTS)

    @cached_property
    def region(self) -> Delta:
        """The measured region: the sum of all parts if it began several times. Of an interrupted run the last part
        ends with the last snapshot."""
        marked = [line for line in self.snapshots.lines if line.mark in ("measure_begin", "measure_end")]
        if not marked:
            raise UserError(f"{self.folder}: the measured region ({self.record.region}) did not begin")
        if len(marked) == 1:
            return self.snapshots.delta(marked[0], -1)
        return self.snapshots.region()

    @property
    def intervals(self) -> list[tuple[int, Delta]]:
        """The sampling intervals of the measured region, each with its begin in simulated nanoseconds since the region
        began, without the time between the parts of a region."""
        found: list[tuple[int, Delta]] = []
        measured, began = False, 0
        for first, second in pairwise(self.snapshots.lines):
            measured = {"measure_begin": True, "measure_end": False}.get(first.mark, measured)
            if measured and second.clock_ns > first.clock_ns:
                found.append((began, self.snapshots.delta(first, second)))
                began += second.clock_ns - first.clock_ns
        return found

    @cached_property
    def contention(self) -> Contention | None:
        """The lines that moved between caches; None if misses were not recorded (--no-misses)."""
        if not (self.folder / SUMS).is_file():
            return None
        kernel = load_kernel(plain_folder())
        processes, memory = read_processes(self.folder / MAPPINGS), read_map(self.folder / MEMORY_MAP)
        names = Names(self.files, processes, kernel, memory, compiled=read_compiled(self.folder))
        return contention_of(read_sums(self.folder / SUMS, kernel.system_calls), names)

    def as_json(self) -> dict[str, Any]:
        """The report as data."""
        record = self.record
        return {
            "schema": record.schema,
            "command": list(record.words),
            "machine": self.machine.design() | {"name": record.machine},
            "region": record.region,
            "per": record.per,
            "boot": record.boot,
            "seed": record.seed,
            "code": record.code,
            "complete": record.complete,
            "inputs": dict(record.inputs),
            "counts": counts_of(self.region).record(),
            "calls": self.calls,
            "contention": None if self.contention is None else self.contention.record(),
        }

    @cached_property
    def report(self) -> dict[str, Any]:
        """The report as data, as it was when the run ended."""
        path = self.folder / REPORT
        try:
            found = json.loads(read_regular(path, LARGEST_REPORT, AGAIN))
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("schema") != SCHEMA:
            raise UserError(f"{path}: is not the report of a run; {AGAIN}")
        return found

    @property
    def files(self) -> Mapping[str, Path]:
        """The host's file of each file of the guest that was handed over by name, or was a program of an archive."""
        return {guest: self.folder / host for guest, host in self.record.files.items()}

    @property
    def region_count(self) -> int:
        """How often the region began."""
        return self.snapshots.region_count

    @property
    def calls(self) -> int | None:
        """How often the function of --per was entered in the region; None without one."""
        return self.region.guest["calls"] if self.record.per else None


def write_record(folder: Path, record: Record) -> None:
    (folder / RECORD).write_text(json.dumps(asdict(record), indent=1) + "\n")


def find_runs(name: str) -> list[ExecRun]:
    """The runs with that name, by boot and seed. UserError: there is none."""
    found = [ExecRun(path.parent) for path in exec_folder(name).glob(f"boot-*/{RECORD}")]
    if not found:
        raise UserError(
            f"{paths.results() / 'exec'} has no run with the name {name}: make it with `s80lab exec --name {name} -- "
            "PROGRAM`"
        )
    return sorted(found, key=lambda run: (run.record.boot, run.record.seed))


def stored_lines(lines: Iterable[Line]) -> list[store.Line]:
    """The lines in their order."""
    return [_stored(line) for line in lines]


def _stored(line: Line) -> store.Line:
    found = store.Line(line.physical, line.kind, len(line.readers), len(line.writers))
    for access in line.accesses:
        counts = _numbers(access)
        found.counts.update(counts)
        requests = store.requests(counts)
        found.accesses.append(
            store.Access(
                access.offset,
                access.data,
                access.declared,
                access.code,
                counts,
                Counter({access.source: requests}),
                Counter({access.process: requests}),
            )
        )
    return found


def _numbers(access: Access) -> Counter[str]:
    return Counter(
        {
            **access.states,
            "reads": access.loads,
            "writes": access.stores,
            "upgrades": access.upgrades,
            "true_sharing": access.true,
            "false_sharing": access.false,
            "stall_cycles": access.stall_cycles,
        }
    )
