# SPDX-License-Identifier: GPL-2.0-or-later
"""One measured run: restored from a checkpoint, and written to a folder that is complete or absent."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from s80lab.analysis.misses.log import count_records
from s80lab.analysis.misses.run import write_map
from s80lab.analysis.profile import count_samples
from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.follow import Follower
from s80lab.base.hashing import value_hash
from s80lab.base.progress import WAITING, Job, instructions_text
from s80lab.base.staging import exclusive, staging
from s80lab.base.threads import to_its_end
from s80lab.base.version import __version__
from s80lab.config.differences import slug
from s80lab.config.experiment import Phases
from s80lab.config.machine import low_ram
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import Checkpoint, Inputs
from s80lab.experiment.entries import manifest_entries, plan_differences
from s80lab.experiment.plan import Plan
from s80lab.experiment.warm import STALL_S, guess, write_inputs
from s80lab.guest.command import JOB, OUTPUT, Session
from s80lab.guest.counters import WATCH
from s80lab.guest.process import Guest, short_socket
from s80lab.results.conservation import check_run
from s80lab.results.metrics.derive import write_stats
from s80lab.results.metrics.load import client_cycles
from s80lab.results.metrics.standing import FEWEST_CYCLES
from s80lab.results.products import is_whole, record_products, why_not_whole
from s80lab.results.run_folder import (
    MEMORY_MAP,
    MISS_LOG,
    PROFILE,
    SCHEMA,
    SNAPSHOTS,
    TRANSACTIONS,
    WARM_SNAPSHOTS,
    RunFolder,
)
from s80lab.results.snapshots import Snapshots

# Of a region that is measured once more: how much longer than was lacking, and the most.
ROOM, LONGEST = 1.1, 2.0


@dataclass
class Timing:
    """Wall-clock times (monotonic seconds) at which the host saw each mark."""

    began: float
    measure_begin: float | None = None
    measure_end: float | None = None


def run_folder(plan: Plan, warm_content: str) -> Path:
    """The folder of the run from a warm checkpoint. Its name contains what differs from the experiment's file, and a
    hash of all inputs of the run."""
    return paths.runs() / f"{name_before_hash(plan)}{value_hash(plan.keys.run_inputs(warm_content))[:8]}"


def name_before_hash(plan: Plan) -> str:
    """The beginning of the run's name, for example `imapb-small-mesi-l2.size=2MiB-s1-`."""
    return f"{plan.name}-{plan.scale_name}{slug(plan_differences(plan))}-s{plan.seed}-"


def job_key(plan: Plan) -> str:
    """Hash of all inputs of the run that are known before its warm checkpoint exists."""
    return value_hash({"experiment": plan.name, **plan.keys.run_inputs("")})


def measured(plan: Plan) -> Path | None:
    """The folder of the plan's run if the run is complete, even if its warm checkpoint has been removed since."""
    warm = checkpoint.known(plan.keys.warm.name, plan.keys.warm.key)
    asked = [
        *([MISS_LOG, MEMORY_MAP] if plan.misses else []),
        *([PROFILE, MEMORY_MAP] if plan.profile else []),
    ]
    if warm is None or not is_whole(folder := run_folder(plan, warm.content), *asked):
        return None
    return folder


def region_length(plan: Plan, warm: Snapshots) -> int:
    """Length of the measured region in instructions, a whole number of sampling intervals.

    The length is at least the plan's. It is also enough for the plan's closed-loop cycles, at the instructions per
    transaction of the second half of the warm-up.
    """
    phases = plan.phases
    intervals = warm.intervals()
    late = warm.delta(intervals[len(intervals) // 2].begin, intervals[-1].end)
    transactions = late.total("transactions", outcome="good")
    if not phases.measure_cycles or not transactions:
        return phases.measure
    cycles = phases.measure_cycles * plan.clients * late.instructions / transactions
    return max(phases.measure, math.ceil(cycles / phases.sampling_interval) * phases.sampling_interval)


async def measure(plan: Plan, warm: Checkpoint, job: Job) -> Path:
    """Measure the run from its warm checkpoint; return the run's folder."""
    inputs = plan.keys.run_inputs(warm.manifest.content)
    folder = run_folder(plan, warm.manifest.content)
    length = region_length(plan, await asyncio.to_thread(Snapshots.read, warm.folder / SNAPSHOTS))
    plan = replace(plan, phases=plan.phases.model_copy(update={"measure": length}))
    lock = paths.runs() / f".{folder.name}.lock"
    async with exclusive(lock, lambda: job.update(WAITING)) as waited:
        if not (waited and is_whole(folder)):
            if folder.is_dir() and (why := why_not_whole(folder)):
                job.say(f"this run is measured again: {why}")
            warm = await checkpoint.local(warm, job)
            with staging(folder) as partial:
                timing = await measure_region(plan, warm, partial, job)
                job.update("statistics")
                await to_its_end(finish, plan, warm, folder.name, inputs, timing, partial)
    return folder


async def measure_region(plan: Plan, warm: Checkpoint, folder: Path, job: Job) -> Timing:
    """Run the measured region.

    If the region has fewer closed-loop cycles than a valid run needs, it is run once more from the same warm guest, and
    longer: the warm-up gives only an estimate of the cycles.
    """
    timing = await live(plan, warm, folder, job)
    length = lengthened(plan.phases, RunFolder(folder).transactions)
    if length == plan.phases.measure:
        return timing
    for file in folder.iterdir():
        file.unlink()
    longer = replace(plan, phases=plan.phases.model_copy(update={"measure": length}))
    return await live(longer, warm, folder, job)


def lengthened(phases: Phases, load: Mapping[str, Any]) -> int:
    """Length of a repeated region in instructions, a whole number of sampling intervals.

    The length gives enough closed-loop cycles, with a margin, at the rate of the first attempt. It is at most twice the
    first length. It is the first length if the cycles sufficed, or if the plan asks for fewer cycles.
    """
    cycles = client_cycles(load)
    if phases.measure_cycles < FEWEST_CYCLES or cycles >= FEWEST_CYCLES:
        return phases.measure
    factor = min(LONGEST, ROOM * FEWEST_CYCLES / cycles) if cycles else LONGEST
    return math.ceil(factor * phases.measure / phases.sampling_interval) * phases.sampling_interval


async def live(
    plan: Plan,
    start: Checkpoint,
    folder: Path,
    job: Job,
    extra: Mapping[str, object] | None = None,
) -> Timing:
    """Run the guest from a checkpoint to the end of the plan's measured region.

    From a warm checkpoint, the clients continue as if the guest had never been saved. From a ready checkpoint, the
    warm-up is the plan's `skip`.

    start: the checkpoint.
    folder: the folder for all output.
    job: the progress line.
    extra: further plugin arguments.
    """
    phases = plan.phases
    warm = start.manifest.stage == "warm"
    await asyncio.to_thread(checkpoint.check, start)
    session = Session(
        folder=folder,
        ram=start.ram,
        shared=False,
        socket=folder,
        job=folder / JOB,
        plugin=plan.plugin,
        plugin_arguments={
            **write_inputs(plan, start, folder),
            "ram": start.ram,
            **({"state_in": start.model_state} if warm else {}),
            "skip": phases.skip,
            "measure": phases.measure,
            **({"misses": folder / MISS_LOG} if plan.misses else {}),
            **({"profile": folder / PROFILE} if plan.profile else {}),
            **(extra or {}),
        },
        incoming=True,
    )
    if warm:
        shutil.copyfile(start.folder / SNAPSHOTS, folder / WARM_SNAPSHOTS)
    timing = Timing(time.monotonic())
    lines = Follower(folder / SNAPSHOTS)
    with short_socket(session) as session:
        async with Guest(plan.qemu, plan.boot, session, f"run {plan.name}, seed {plan.seed}") as guest:
            await guest.restore(start.guest_state)
            region = Region(phases.measure, phases.sampling_interval, 0 if warm else phases.skip)

            def look() -> float | None:
                for line in lines.lines():
                    guest.moved()
                    region.take(line, timing)
                region.show(job, timing)
                return timing.measure_end

            result = await guest.event("result", STALL_S, look)
            await guest.wait("the end of the measured region", look, STALL_S)
            if plan.misses or plan.profile:
                job.update("reading the guest's memory map")
                pid = await guest.pause()
                await to_its_end(write_map, folder, pid, start.ram, low_ram(plan.scale.memory()), plan.image)
            await guest.quit()
    (folder / TRANSACTIONS).write_text(json.dumps(result, indent=1) + "\n")
    _check_errors(result, guest.name)
    return timing


class Region:
    """Progress through the warm-up (if there is one) and the measured region, read from snapshots.jsonl."""

    def __init__(self, length: int, interval: int, warm_up: int = 0) -> None:
        self.length = length
        self.interval = interval
        self.warm_up = warm_up
        self.done = 0
        self._begin = 0
        self._load_began: float | None = None
        self._then = 0.0

    def take(self, line: str, timing: Timing) -> None:
        """Take in one complete line of snapshots.jsonl."""
        content: dict[str, Any] = json.loads(line)
        mark, at = content.get("mark"), content.get("instructions", 0)
        if mark == "load_begin":
            self._begin, self._load_began = at, time.monotonic()
        elif mark == "measure_begin":
            self._begin, timing.measure_begin = at, time.monotonic()
        elif mark == "measure_end":
            timing.measure_end = time.monotonic()
        self.done, self._then = at - self._begin, time.monotonic()

    def show(self, job: Job, timing: Timing) -> None:
        """Update the progress line."""
        if timing.measure_end is not None:
            job.update("collecting results")
        elif timing.measure_begin is not None:
            self._advance(job, "measured region", self.length, timing.measure_begin)
        elif self.warm_up and self._load_began is not None:
            self._advance(job, "warm-up", self.warm_up, self._load_began)
        else:
            job.update("starting the load")

    def _advance(self, job: Job, what: str, length: int, since: float) -> None:
        passed = self._then - since
        mips = self.done / passed / 1e6 if self.done and passed else None
        estimate = min(guess(self.done, self._then, mips, self.interval), length)
        job.update(what, estimate, length, mips, details=[instructions_text(self.done)])


def versions(plan: Plan) -> dict[str, str]:
    """The versions of all software behind a live run."""
    return {
        "s80lab": __version__,
        "qemu": plan.qemu.version,
        "kernel": plan.image_manifest.kernel_version,
        **plan.image_manifest.packages,
    }


def _check_errors(result: dict[str, Any], name: str) -> None:
    errors = {kind: count for kind, count in result["errors"].items() if count}
    if errors:
        counted = ", ".join(f"{count} {kind}" for kind, count in errors.items())
        raise UserError(
            f"{name}: the load generator counted errors ({counted}), so the run is not kept; the first error: "
            f"{result.get('first_error')}"
        )


def _counts(run: RunFolder) -> dict[str, int]:
    """The number of records of each log that the run has."""
    counters = {MISS_LOG: count_records, PROFILE: count_samples}
    return {name: count(run / name) for name, count in counters.items() if (run / name).is_file()}


def finish(plan: Plan, start: Checkpoint, run_id: str, inputs: Inputs, timing: Timing, folder: Path) -> None:
    """Complete the folder of a finished run: checks, statistics and manifest."""
    run = RunFolder(folder)
    region = run.snapshots.region()
    assert timing.measure_begin is not None and timing.measure_end is not None
    region_s = timing.measure_end - timing.measure_begin
    checks = check_run(run)
    manifest = {
        "schema": SCHEMA,
        "run": run_id,
        **manifest_entries(plan),
        "instructions": region.instructions,
        "simulated_ns": region.clock_ns,
        "wall_s": round(time.monotonic() - timing.began, 2),
        "mips": round(region.instructions / region_s / 1e6, 2),
        "inputs": inputs,
        "drift_points": plan.phases.drift_points,
        "mail_may_wait": plan.phases.mail_may_wait,
        "warm_snapshots": WARM_SNAPSHOTS if (folder / WARM_SNAPSHOTS).is_file() else None,
        "checkpoint": start.manifest.name,
        "conservation_checks": checks,
        "versions": versions(plan),
    }
    run.write_manifest(manifest)
    write_stats(run)
    record_products(run, _counts(run))
    for name in (OUTPUT, WATCH, "qemu.stderr"):
        (folder / name).unlink(missing_ok=True)
