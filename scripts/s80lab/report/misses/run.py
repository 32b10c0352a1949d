# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's misses with names (`s80lab run ... --misses`).

    write_map(run, pid, ram, low_ram, image)   what the memory of the guest held, while it stands still at the end
    write_misses(run)                          tables, page and stacks, out of the plugin's log and that map
    analyse(run)                               the same as columns
In the run's folder: misses.bin (the log), memory.npz (the map), misses.json (the tables), misses.html (a page of them),
misses.collapsed and stalls.collapsed (for speedscope: weighted by misses, by stall cycles).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.folder import read_manifest
from s80lab.guest.kernel.facts import Kernel, load_kernel
from s80lab.guest.kernel.memory import KernelMemory, ProcessRam
from s80lab.image.build import load_image
from s80lab.report.misses.functions import Functions
from s80lab.report.misses.log import LOG, Log, read_log
from s80lab.report.misses.memory import read_map
from s80lab.report.misses.memory_build import map_memory
from s80lab.report.misses.names import Named, name_all
from s80lab.report.misses.sharing import Lines, lines_of
from s80lab.report.misses.stacks import collapsed
from s80lab.report.misses.tables import all_tables
from s80lab.report.page import Topic, render
from s80lab.report.tables import Table

MAP, TABLES, PAGE = "memory.npz", "misses.json", "misses.html"
BY_MISSES, BY_STALLS = "misses.collapsed", "stalls.collapsed"


@dataclass(frozen=True)
class Analysis:
    log: Log
    named: Named
    lines: Lines

    def tables(self) -> list[Table]:
        return all_tables(self.log, self.named, self.lines)


def has_misses(run: Path) -> bool:
    """Whether the run was made with its log."""
    return (run / LOG).is_file() and (run / MAP).is_file()


def write_map(run: Path, pid: int, ram: Path, low_ram: int, image: Path) -> None:
    """Names the guest's memory; QEMU's process `pid` must have stopped the guest."""
    memory = ProcessRam(pid, ram, low_ram)
    try:
        map_memory(KernelMemory(load_kernel(image), memory)).write(run / MAP)
    finally:
        memory.close()


def analyse(run: Path) -> Analysis:
    """UserError where the run has no log, or was made with another image than there is now."""
    if not has_misses(run):
        raise UserError(f"{run} has no log of misses: run it with --misses")
    image, kernel = booted_image(run)
    memory_map = read_map(run / MAP)
    log = read_log(run / LOG, kernel.system_calls)
    functions = Functions(kernel.symbols, memory_map.files, image / "initramfs.cpio", paths.BIN)
    return Analysis(log, name_all(log, memory_map, functions, kernel.symbols), lines_of(log))


def write_misses(run: Path) -> Sequence[Table]:
    """All that is made of the log; its tables."""
    analysis = analyse(run)
    tables = analysis.tables()
    (run / TABLES).write_text(json.dumps([asdict(table) for table in tables], indent=1) + "\n")
    title = f"Misses of {read_manifest(run)['run']}"
    topics = [Topic(table.title, [], [table]) for table in tables]
    lead = "Every L2 miss of the measured region, by what missed and what it missed on."
    (run / PAGE).write_text(render(title, lead, verdicts=[], notes=[], topics=topics, origins=[]))
    log, named = analysis.log, analysis.named
    (run / BY_MISSES).write_text(collapsed(log, named, log.misses.astype(np.int64)))
    (run / BY_STALLS).write_text(collapsed(log, named, log.records["stall"].astype(np.int64)))
    return tables


def booted_image(run: Path) -> tuple[Path, Kernel]:
    """The image that the run booted, where it is still there."""
    inputs = read_manifest(run)["inputs"]
    for folder in sorted(path.parent for path in (paths.BUILD / "image").glob("*/manifest.json")):
        manifest = load_image(folder)
        if (manifest.vmlinuz_sha256, manifest.initramfs_sha256) == (inputs["kernel"], inputs["initramfs"]):
            return folder, load_kernel(folder)
    raise UserError(f"{run}: the image that it booted is not there any more; run it again")
