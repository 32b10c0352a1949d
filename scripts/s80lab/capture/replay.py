# SPDX-License-Identifier: GPL-2.0-or-later
"""One replay of a capture on a design. Its folder is complete or absent; the database is updated last."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from s80lab.analysis.groups import NO_WORKLOAD
from s80lab.base import paths
from s80lab.base.hashing import file_hash, value_hash
from s80lab.base.programs import built
from s80lab.base.stage import staged
from s80lab.base.staging import exclusive, staging
from s80lab.base.threads import to_its_end
from s80lab.base.version import __version__
from s80lab.capture.design import Design
from s80lab.capture.error import filter_error
from s80lab.capture.process import Played, Progress, play
from s80lab.capture.store import Capture
from s80lab.results.conservation import check_snapshots
from s80lab.results.database import insert_run
from s80lab.results.metrics.derive import render, write_stats
from s80lab.results.products import is_whole, record_products, why_not_whole
from s80lab.results.run_folder import (
    FIRST_IMAGE,
    FIRST_SERVER,
    MACHINE,
    MANIFEST,
    PROTOCOL,
    REPORT,
    SCHEMA,
    WARM_SNAPSHOTS,
    RunFolder,
)
from s80lab.trace.files import write


def run_folder(capture: Capture, design: Design) -> Path:
    """The folder of the replay, whether it exists or not; its name contains the hash of all inputs."""
    return paths.runs() / folder_name(capture, design, design_key(capture, design))


def folder_name(capture: Capture, design: Design, key: str) -> str:
    """The name of the replay's folder. key: hash of all inputs (design_key)."""
    return f"replay-{capture.name}-{capture.form}-{design.protocol_name}-{key[:8]}"


def design_key(capture: Capture, design: Design) -> str:
    """Hash of all inputs that determine the replay's numbers."""
    return value_hash(design.inputs(capture, built(paths.REPLAY)))


async def replay(
    capture: Capture,
    design: Design,
    progress: Progress,
    *,
    again: bool = False,
    alone: bool = True,
    enter: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Replay the capture on the design and return the folder.

    A complete folder of the same inputs is kept unless `again`; so is one that another process completes during the
    call. alone: no other replay runs at the same time. enter: enter the rows into the database. say: called with one
    sentence if a damaged folder is made again.
    """
    folder = run_folder(capture, design)
    if not again and is_whole(folder):
        _restate(capture, design, folder)
    else:
        # Two grids that are explored at the same time may have designs in common.
        async with exclusive(paths.runs() / f".{folder.name}.lock", lambda: None) as waited:
            if (again and not waited) or not is_whole(folder):
                if folder.is_dir() and (why := why_not_whole(folder)):
                    say(f"{folder.name} is replayed again: {why}")
                await _play(capture, design, folder, progress, alone)
    if enter:
        await asyncio.to_thread(insert_run, paths.database(), RunFolder(folder))
    return folder


async def _play(capture: Capture, design: Design, folder: Path, progress: Progress, alone: bool) -> None:
    with staging(folder) as partial:
        began = time.monotonic()
        (partial / MACHINE).write_text(design.machine.resolved())
        shutil.copyfile(design.protocol, partial / PROTOCOL)
        played = await play(
            await local_file(capture),
            partial / MACHINE,
            partial / PROTOCOL,
            partial,
            progress,
            alone=alone,
        )
        await to_its_end(_finish, capture, design, folder.name, played, began, partial)


async def local_file(capture: Capture) -> Path:
    """The path of the capture's file; a copy on the host's own disk if $S80LAB_STAGE is set (base/stage.py)."""
    name, key = capture.path.name, capture.sha256
    return await staged(capture.path.parent, key, {name: key}, file_hash, lambda: None) / name


def _finish(capture: Capture, design: Design, run_id: str, played: Played, began: float, folder: Path) -> None:
    """Checks, statistics and manifest of a replay that has ended."""
    run = RunFolder(folder)
    region = run.snapshots.region()
    checks = check_snapshots(run.snapshots)
    origin = capture.origin
    manifest = {
        "schema": SCHEMA,
        "run": run_id,
        "experiment": origin.get("experiment", capture.name),
        "engine": "replay",
        "machine": design.machine.name,
        "protocol": design.protocol_name,
        "image": origin.get("image", FIRST_IMAGE),
        "server": origin.get("server", FIRST_SERVER),
        "workload": origin.get("workload", NO_WORKLOAD),
        "scale": origin.get("scale", "-"),
        "seed": origin.get("seed", 0),
        "status": "whole",
        "capture": {
            "name": capture.name,
            "form": capture.form,
            "clients": origin.get("clients"),
            "think_ms": origin.get("think_ms"),
        },
        **({"program": origin["program"]} if "program" in origin else {}),
        "design": design.values,
        "varied": dict(design.varied),
        "filter_error": filter_error(capture, design),
        "instructions": region.instructions,
        "simulated_ns": region.clock_ns,
        "wall_s": round(time.monotonic() - began, 2),
        "mips": round(played.mips, 2),
        "events": played.events,
        "accesses": played.accesses,
        "inputs": design.inputs(capture, built(paths.REPLAY)),
        "warm_snapshots": _warm_snapshots(capture, design, folder),
        "conservation_checks": checks,
        "versions": {**origin.get("versions", {}), "s80lab": __version__},
    }
    write(folder / MANIFEST, render(manifest).encode())
    write_stats(run)
    record_products(run)


def _restate(capture: Capture, design: Design, folder: Path) -> None:
    """Write the filter error into the manifest again: it may have been measured after the replay, whose numbers do not
    depend on it."""
    manifest = RunFolder(folder).manifest
    stated = filter_error(capture, design)
    if manifest["filter_error"] != stated:
        write(folder / MANIFEST, render({**manifest, "filter_error": stated}).encode())
        (folder / REPORT).unlink(missing_ok=True)


def _warm_snapshots(capture: Capture, design: Design, folder: Path) -> str | None:
    """Copy the snapshots of the capture's warm-up into the folder of the replay and return the file's name; None if the
    replay has its own warm-up."""
    warm_up = design.warm_up(capture)
    if warm_up is None:
        return None
    shutil.copyfile(warm_up[0], folder / WARM_SNAPSHOTS)
    return WARM_SNAPSHOTS
