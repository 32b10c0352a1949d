# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the programs of workloads/programs, whose coherence events are known, in a guest with the plugin."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab import LIMIT_S

from s80lab.base import paths
from s80lab.config.experiment import DEFAULT_SERVER, load_scale
from s80lab.config.machine import load_machine, low_ram
from s80lab.guest.command import OUTPUT, RAM_FILE, Boot, Session
from s80lab.guest.process import Guest, short_socket
from s80lab.guest.qemu import find_qemu
from s80lab.image.build import image_folder
from s80lab.image.cpio import character_device, directory, regular, write_archive
from s80lab.results.snapshots import Delta, Snapshots

PROGRAMS = paths.BUILD / "bin" / "programs"
# Processor 0 starts the threads, and the first process of the guest sleeps on the last one.
MOST_THREADS = 8
PROCESSORS = MOST_THREADS + 2
EVERYTHING = 10**15  # instructions: no sampling interval ends


@dataclass(frozen=True)
class Run:
    """One execution of a program, with its arguments (workloads/programs/program.h)."""

    program: str
    threads: int
    rounds: int
    work: int = 0
    busy: bool = False

    def line(self) -> str:
        return f"/{self.program} {self.threads} {self.rounds} {self.work} {self.busy:d}\n"


@dataclass(frozen=True)
class Measured:
    """The region of one execution. rounds: the rounds that all threads together began in it. guest_ns: its length
    by the guest's clock. printed: what else the program printed."""

    run: Run
    rounds: int
    guest_ns: int
    printed: Mapping[str, int]
    region: Delta

    @property
    def a_round(self) -> float:
        """Rounds of one thread."""
        return self.rounds / self.run.threads

    def loads_from(self, source: str) -> int:
        """Load misses of the program that this source serviced: memory, M, O, E or S."""
        return self._misses("load", source)

    def stores_from(self, source: str) -> int:
        return self._misses("store", source)

    def _misses(self, kind: str, source: str) -> int:
        return self.region.total("miss_source", privilege="user", kind=kind, source=source)

    @property
    def upgrades(self) -> int:
        return self.region.total("upgrades", privilege="user")

    @property
    def invalidations(self) -> int:
        """Blocks that the program's accesses invalidated."""
        return self.region.total("invalidations_sent", privilege="user")

    @property
    def transfers(self) -> int:
        """Misses of the program that another cache serviced."""
        sources = self.region.header.labels["source"]
        kinds = self._misses
        return sum(kinds(kind, source) for kind in ("load", "store") for source in sources if source != "memory")

    @property
    def wait_error(self) -> float:
        """The metric of this name."""
        return self.region.total("wait_error_cycles") / self.region.total("busy_cycles")

    @property
    def cycles(self) -> float:
        """Simulated cycles of the region."""
        return self.region.clock_ns * self.region.header.clock_hz / 1e9


def measure(
    folder: Path,
    runs: Sequence[Run],
    settings: Mapping[str, object] | None = None,
    plugin: Mapping[str, object] | None = None,
    patience_s: float = math.inf,
) -> list[Measured]:
    """Boots a guest that executes the programs one after the other. Removes the large files.

    settings: keys of the machine with values other than those of its file. plugin: further arguments of the plugin.
    patience_s: the guest ends where a program takes longer. Then the results are those of the runs before.
    """
    programs = {run.program for run in runs}
    events = execute(folder, programs, [run.line() for run in runs], settings, plugin, patience_s=patience_s)
    printed: list[dict[str, int]] = []
    for event in events:
        name = event.pop("event")
        if name == "region":
            printed.append({})
        if name != "result":
            printed[-1].update(event)
    snapshots = Snapshots.read(folder / "snapshots.jsonl")
    begins = [line for line in snapshots.lines if line.mark == "measure_begin"]
    ends = [line for line in snapshots.lines if line.mark == "measure_end"]
    regions = map(snapshots.delta, begins, ends)
    return [
        Measured(run, values.pop("rounds"), values.pop("guest_ns"), values, region)
        for run, values, region in zip(runs, printed, regions, strict=patience_s == math.inf)
    ]


def execute(
    folder: Path,
    programs: Collection[str],
    lines: Sequence[str],
    settings: Mapping[str, object] | None = None,
    plugin: Mapping[str, object] | None = None,
    libraries: Collection[Path] = (),
    patience_s: float = math.inf,
) -> list[dict[str, Any]]:
    """Boots a guest that executes the lines of /runs, and returns what the programs print.

    programs: of workloads/programs. settings, plugin, patience_s: as for `measure`. libraries: files of the host that
    the guest has, too.
    """
    machine = load_machine("s80", {"processors.count": PROCESSORS, **(settings or {})})
    scale = load_scale("tiny")
    initramfs = folder / "initramfs.cpio"
    folders = {parent for library in libraries for parent in library.parents if parent != Path("/")}
    write_archive(
        [
            directory("dev"),
            character_device("dev/console", 5, 1),
            regular("runs", "".join(lines).encode()),
            *(regular(name, (PROGRAMS / name).read_bytes(), 0o755) for name in sorted({"init", *programs})),
            *(directory(str(folder)[1:]) for folder in sorted(folders)),
            *(regular(str(library)[1:], library.read_bytes(), 0o755) for library in libraries),
        ],
        initramfs,
    )
    (folder / "machine.toml").write_text(machine.resolved())
    boot = Boot(machine, scale, image_folder("debian", DEFAULT_SERVER) / "vmlinuz", initramfs)
    session = Session(
        folder=folder,
        ram=folder / RAM_FILE,
        shared=True,
        socket=folder,
        plugin=paths.PLUGIN,
        plugin_arguments={
            "machine": folder / "machine.toml",
            "protocol": paths.PROTOCOLS / f"{machine.protocol}.toml",
            "out": folder,
            "ram": folder / RAM_FILE,
            "low_ram": low_ram(scale.memory()),
            "clock_shift": machine.clock_shift,
            "sampling_interval": EVERYTHING,
            **(plugin or {}),
        },
    )

    slow = _Patience(folder / OUTPUT, patience_s).ended

    async def boot_and_wait() -> None:
        with short_socket(session) as short:
            async with Guest(find_qemu(), boot, short, "guest with programs") as guest:
                await guest.wait("the programs' end", lambda: guest.found("result") or slow(), LIMIT_S)
                await guest.quit()

    asyncio.run(boot_and_wait())
    (folder / RAM_FILE).unlink()
    return [json.loads(line) for line in (folder / OUTPUT).read_text().splitlines()]


@dataclass
class _Patience:
    """Whether the guest's programs have printed something, and then nothing for a time."""

    output: Path
    seconds: float
    _size: int = 0
    _since: float = math.inf

    def ended(self) -> bool | None:
        """None if not."""
        size = self.output.stat().st_size if self.output.is_file() else 0
        if size != self._size:
            self._size, self._since = size, time.monotonic()
        return time.monotonic() - self._since > self.seconds or None
