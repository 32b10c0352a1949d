# SPDX-License-Identifier: GPL-2.0-or-later
"""The boot of a guest in gem5, in segments: each process of gem5 simulates one segment and saves a checkpoint.

A segment ends when a stage of the boot is complete, or after a number of instructions that keeps gem5's memory small
(configs/gem5/segment.py). The next process restores this checkpoint, also after a kill. A kill therefore costs one
segment at most, and does not change the result. Each checkpoint within the boot replaces the one before.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from s80lab.base.progress import Job
from s80lab.experiment import checkpoint, resources
from s80lab.experiment.checkpoint import GEM5_RAM, GEM5_STATE, BootRecord, Checkpoint, Manifest
from s80lab.gem5.plan import Gem5Plan
from s80lab.gem5.process import CONSOLE, Guest, simulate
from s80lab.guest.command import CONSOLE as LOG
from s80lab.guest.console import boot_stage

SEGMENT = "segment"
SAVED = "saved"
DATE = b"## checkpoint generated: "
"""The beginning of the comment with which gem5 begins a checkpoint."""


async def boot(plan: Gem5Plan, arguments: Mapping[str, object], folder: Path, job: Job) -> dict[str, object]:
    """Boot from the newest checkpoint of this boot, and leave the files of the ready checkpoint in the folder.

    Return the entries of its manifest. arguments: the arguments of mail_server.py that all segments share.
    """
    last = await asyncio.to_thread(newest, plan)
    if last is not None:
        job.say(f"resumes from {last.manifest.name} ({progress(last)})")
    guest = _guest(last)
    expected = expected_instructions(plan, checkpoint.STORE.all())
    number, spent = (
        (0, 0.0) if last is None else (_recorded_in(last.manifest).segments, _recorded_in(last.manifest).wall_s)
    )
    while True:
        number += 1
        began = time.monotonic()
        out = folder / SEGMENT
        facts = await simulate(plan.gem5, "boot", _arguments(plan, arguments, folder, last), out, job, expected, guest)
        guest.instructions += facts["instructions"]
        wall_s = time.monotonic() - began
        spent += wall_s
        entries = {"engine": plan.engine, "gem5_version": facts["gem5"], "boot": _new_record(guest, number, spent)}
        remove_date(folder / SAVED / GEM5_STATE)
        _append(None if last is None else last.folder / LOG, out / CONSOLE, folder / SAVED / LOG)
        shutil.rmtree(out)
        if facts["ready"]:
            take_saved(folder)
            return entries
        wanted = plan.segment_wanted(number)
        kept = await asyncio.to_thread(checkpoint.add, wanted, folder / SAVED, wall_s, entries)
        if last is not None:
            checkpoint.STORE.remove([last.manifest.name])
        last = kept
        guest.resumed = _resumed(last)
        job.say(f"saved {last.manifest.name} ({progress(last)})")


def newest(plan: Gem5Plan) -> Checkpoint | None:
    """The newest complete checkpoint within the boot of this plan; None if there is none. UserError if a file of it has
    changed."""
    for manifest in reversed(_within(plan)):
        if found := checkpoint.find(manifest.name, plan.segment_wanted(_segments(manifest)).key):
            return found
    return None


def remove_segments(plan: Gem5Plan) -> None:
    """Remove the checkpoints within the boot of this plan, whose ready checkpoint is complete."""
    checkpoint.STORE.remove([manifest.name for manifest in _within(plan)])


def expected_instructions(plan: Gem5Plan, manifests: Sequence[Manifest]) -> int:
    """Instructions of the last boot with the same processors, clients and scale; an estimate if none is recorded."""
    alike = ("guest", "login_job")
    wanted = {name: plan.keys.ready.inputs[name] for name in alike}
    boots = [one for one in manifests if one.stage == "ready" and one.boot]
    same = [one for one in boots if wanted.items() <= one.inputs.items()]
    if not same:
        return resources.gem5_boot_instructions(plan.machine.processors.count, plan.clients, plan.scale)
    return _recorded_in(max(same, key=lambda one: one.created)).instructions


def remaining_instructions(plan: Gem5Plan) -> int:
    """Expected instructions that the boot of this plan still has to simulate."""
    saved = max((one.boot.instructions for one in _within(plan) if one.boot), default=0)
    return max(expected_instructions(plan, checkpoint.STORE.all()) - saved, 0)


def progress(saved: Checkpoint) -> str:
    """How far a checkpoint within a boot is: `boot: servers, 1540 M instructions, 900 s`."""
    record = _recorded_in(saved.manifest)
    return f"{boot_stage(record.printed)[0]}, {record.instructions / 1e6:.0f} M instructions, {record.wall_s:.0f} s"


def take_saved(folder: Path) -> None:
    """Move the files of a saved guest from the subfolder to which gem5 has written them."""
    for path in sorted((folder / SAVED).iterdir()):
        if path.name in (GEM5_STATE, GEM5_RAM, LOG):
            path.rename(folder / path.name)
    shutil.rmtree(folder / SAVED)


def remove_date(state: Path) -> None:
    """Remove the time of day from the state of a guest that gem5 has saved, so that equal guests give equal files."""
    first, _, rest = state.read_bytes().partition(b"\n")
    if first.startswith(DATE):
        state.write_bytes(rest)


def _within(plan: Gem5Plan) -> list[Manifest]:
    """The manifests of the checkpoints within the boot of this plan, in the order of the segments."""
    found = [one for one in checkpoint.all_checkpoints() if one.manifest.name.startswith(plan.segment_prefix)]
    return sorted((one.manifest for one in found), key=_segments)


def _segments(manifest: Manifest) -> int:
    return 0 if manifest.boot is None else manifest.boot.segments


def _recorded_in(manifest: Manifest) -> BootRecord:
    assert manifest.boot is not None
    return manifest.boot


def _guest(last: Checkpoint | None) -> Guest:
    """The guest as the last segment left it."""
    if last is None:
        return Guest()
    record = _recorded_in(last.manifest)
    return Guest(record.instructions, record.printed, record.ticks, record.resident_peak, _resumed(last))


def _resumed(last: Checkpoint) -> str:
    return f" (the next `s80lab checkpoint build` or `s80lab run` resumes from {last.manifest.name}: {progress(last)})"


def _new_record(guest: Guest, segments: int, wall_s: float) -> BootRecord:
    return BootRecord(
        segments=segments,
        instructions=guest.instructions,
        wall_s=round(wall_s, 1),
        printed=guest.printed,
        ticks=guest.ticks or 0,
        resident_peak=guest.resident_peak,
    )


def _arguments(
    plan: Gem5Plan, shared: Mapping[str, object], folder: Path, last: Checkpoint | None
) -> dict[str, object]:
    own: dict[str, Any] = {"instructions": plan.segment, "save": folder / SAVED}
    return {**shared, **own, **({} if last is None else {"restore": last.folder})}


def _append(before: Path | None, console: Path, target: Path) -> None:
    """Write the console of all segments so far beside the saved guest."""
    with target.open("wb") as file:
        for part in (before, console):
            if part is not None and part.is_file():
                file.write(part.read_bytes())
