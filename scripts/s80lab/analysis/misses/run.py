# SPDX-License-Identifier: GPL-2.0-or-later
"""Attributed misses of a run (`s80lab run ... --misses`).

Files in the run's folder: misses.bin (the log) and memory.npz (the map).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.debug_files import state_now
from s80lab.analysis.misses.functions import Functions
from s80lab.analysis.misses.log import Log, distinct, read_log
from s80lab.analysis.misses.memory import read_map
from s80lab.analysis.misses.memory_build import map_memory
from s80lab.analysis.misses.names import Details, Named, detail_all, name_all
from s80lab.analysis.misses.sharing import PATTERNS, Lines, lines_of
from s80lab.analysis.misses.store import COUNTS, Grouped, MissStore, write_store
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.vocabulary import LABELS
from s80lab.guest.kernel.facts import Kernel, load_kernel
from s80lab.guest.kernel.memory import KernelMemory, ProcessRam
from s80lab.image.build import load_image
from s80lab.results.products import check_logs
from s80lab.results.run_folder import MEMORY_MAP, MISS_LOG, MISS_STORE, RunFolder

# Raise when the names or numbers that are computed from a log change.
VERSION = 1


@dataclass(frozen=True)
class Analysis:
    """debug: the debug files that were used (debug_files.DebugFiles.state)."""

    log: Log
    named: Named
    lines: Lines
    details: Details
    debug: Mapping[str, str]


def write_map(run: Path, pid: int, ram: Path, low_ram: int, image: Path) -> None:
    """Writes the map of the guest's memory. QEMU (process `pid`) must have stopped the guest."""
    memory = ProcessRam(pid, ram, low_ram)
    try:
        map_memory(KernelMemory(load_kernel(image), memory)).write(run / MEMORY_MAP)
    finally:
        memory.close()


def analyse(run: Path) -> Analysis:
    """Attributes the run's log. UserError if it has no log, if the manifest or the statistics of the run do not fit the
    log, or if the image that the run booted no longer exists."""
    folder = RunFolder(run)
    if not folder.has_misses():
        raise UserError(f"{run}: this run has no log of misses; run the experiment with --misses")
    check_logs(folder, MISS_LOG, MEMORY_MAP)
    image, kernel = booted_image(run)
    memory_map = read_map(run / MEMORY_MAP)
    region = folder.snapshots.region()
    log = read_log(run / MISS_LOG, kernel.system_calls, region.total("l2_misses") + region.total("upgrades"))
    if not len(log.records):
        raise UserError(f"{run / MISS_LOG}: the measured region has no L2 miss and no upgrade; measure a longer region")
    functions = Functions(kernel.symbols, memory_map.files, image / "initramfs.cpio", paths.BIN)
    named = name_all(log, memory_map, functions, kernel.symbols)
    details = detail_all(log, memory_map, functions, kernel)
    return Analysis(log, named, lines_of(log), details, functions.debug.state())


def keep(run: Path, analysis: Analysis) -> MissStore:
    """Stores the result by line, with the hashes of the files that it was computed from."""
    meta = {**_inputs(run), "debug": json.dumps(analysis.debug)}
    write_store(run / MISS_STORE, meta, group(analysis.log, analysis.named, analysis.details, analysis.lines))
    return MissStore(run / MISS_STORE)


def kept(run: Path) -> MissStore | None:
    """The stored result; None if there is none, or if the log, the map or the debug files have changed since."""
    store = MissStore(run / MISS_STORE)
    meta = store.meta
    if not meta or not RunFolder(run).has_misses():
        return None
    try:
        debug = json.loads(meta.get("debug", "{}"))
    except (ValueError, TypeError, RecursionError):
        return None
    if not isinstance(debug, dict):
        return None
    current = {**_inputs(run), "debug": json.dumps(state_now(debug))}
    return store if all(meta.get(name) == value for name, value in current.items()) else None


def _inputs(run: Path) -> dict[str, str]:
    return {
        "version": str(VERSION),
        "log_sha256": file_hash(run / MISS_LOG),
        "map_sha256": file_hash(run / MEMORY_MAP),
    }


def booted_image(run: Path) -> tuple[Path, Kernel]:
    """The folder of the image that the run booted, and its kernel. UserError if the image no longer exists."""
    inputs = RunFolder(run).manifest["inputs"]
    for folder in sorted(path.parent for path in (paths.BUILD / "image").glob("*/manifest.json")):
        manifest = load_image(folder)
        if (manifest.vmlinuz_sha256, manifest.initramfs_sha256) == (inputs["kernel"], inputs["initramfs"]):
            return folder, load_kernel(folder)
    raise UserError(f"{run}: the guest image of this run no longer exists; run the experiment again")


def group(log: Log, named: Named, details: Details, lines: Lines) -> Grouped:
    """The rows of misses.sqlite."""
    numbers: dict[str, int] = {}
    columns = [
        _numbered(numbers, [str(what) for what in named.whats])[named.what],
        _numbered(numbers, details.fields)[details.field],
        _numbered(numbers, named.functions)[named.function],
        _numbered(numbers, details.sources)[details.source],
        # One name for the threads that each processor has: `swapper/3`.
        _numbered(numbers, [re.sub(r"/\d+$", "", who.comm) for who in log.whos])[log.records["who"]],
    ]
    found = distinct(lines.line, log.offset, *columns)
    sums = [
        np.bincount(found.index, weights=weights, minlength=len(found.rows)).astype(np.int64).tolist()
        for weights in _weights(log)
    ]
    patterns = (PATTERNS[number] for number in lines.pattern.tolist())
    cores = ((mask.bit_count() for mask in masks.tolist()) for masks in (lines.readers, lines.writers))
    return Grouped(
        lines=zip(lines.numbers.tolist(), patterns, *cores, strict=True),
        texts=list(numbers),
        accesses=((*row, *counts) for row, *counts in zip(found.rows, *sums, strict=True)),
    )


def _weights(log: Log) -> Iterable[NDArray[np.generic]]:
    """For each of COUNTS, the number that each record adds."""
    stores = log.stores
    masks = {
        "reads": log.misses & ~stores,
        "writes": log.misses & stores,
        "upgrades": ~log.misses,
        "memory": log.by_memory,
        **{state: log.from_state(state) for state in LABELS["state"]},
        "true_sharing": log.misses & log.shared("true"),
        "false_sharing": log.misses & log.shared("false"),
    }
    return (log.records["stall"] if name == "stall_cycles" else log.requests(masks[name]) for name in COUNTS)


def _numbered(numbers: dict[str, int], texts: Iterable[str]) -> NDArray[np.int64]:
    """The number of each text; new texts get new numbers."""
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
