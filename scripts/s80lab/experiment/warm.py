# SPDX-License-Identifier: GPL-2.0-or-later
"""The warm checkpoint: a guest in the middle of the mix, with the contents of the model's caches.

The warm-up starts from a copy of the ready checkpoint and runs with the model on. It ends when the shares behind the
results are in steady state, or at a stated limit; then the record says `not steady`.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.follow import Follower
from s80lab.base.progress import Job, instructions_text
from s80lab.base.stage import sparse_copy
from s80lab.config.experiment import Phases
from s80lab.config.machine import low_ram
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import GUEST_STATE, MODEL_STATE, Checkpoint, WarmupRecord
from s80lab.experiment.plan import Plan
from s80lab.guest.command import JOB, RAM_FILE, Session
from s80lab.guest.counters import WATCH, write_watch
from s80lab.guest.kernel.facts import load_kernel
from s80lab.guest.kernel.memory import KernelMemory, RamFile
from s80lab.guest.process import Guest, short_socket
from s80lab.results.metrics.derive import warm_up
from s80lab.results.metrics.warmup import WarmUp
from s80lab.results.run_folder import MACHINE, PROTOCOL, SNAPSHOTS

# Without a new interval, a line on the console or an event.
STALL_S = 600.0
KERNEL, CLASSES = "kernel.txt", "classes.toml"


async def build_warm(plan: Plan, ready: Checkpoint | None, job: Job) -> Checkpoint:
    """The warm checkpoint of the plan, built unless it exists.

    ready: where the warm-up begins; None if the warm checkpoint has been seen.
    """

    async def make(folder: Path) -> dict[str, object]:
        if ready is None:
            raise checkpoint.removed(plan.keys.warm.name)
        return {"qemu_version": plan.qemu.version, "warmup": await _warm_up(plan, ready, folder, job)}

    return await checkpoint.build(plan.keys.wanted("warm"), job, make, nullcontext())


def write_inputs(plan: Plan, start: Checkpoint, folder: Path) -> dict[str, object]:
    """Write the input files of plugin and guest to a folder; return the plugin arguments that name them.

    start: the checkpoint from which the guest will run.
    """
    (folder / MACHINE).write_text(plan.machine.resolved())
    shutil.copyfile(plan.protocol, folder / PROTOCOL)
    shutil.copyfile(load_kernel(plan.image).plugin_file, folder / KERNEL)
    (folder / CLASSES).write_text(plan.server.classes())
    (folder / JOB).write_text(plan.job())
    write_watch(folder / WATCH, KernelMemory(load_kernel(plan.image), RamFile(start.ram, low_ram(plan.scale.memory()))))
    return {
        "machine": folder / MACHINE,
        "protocol": folder / PROTOCOL,
        "kernel": folder / KERNEL,
        "classes": folder / CLASSES,
        "watch": folder / WATCH,
        "out": folder,
        "low_ram": low_ram(plan.scale.memory()),
        "sampling_interval": plan.phases.sampling_interval,
        "clock_shift": plan.machine.clock_shift,
        **({"dma": 1} if plan.dma else {}),
    }


async def _warm_up(plan: Plan, ready: Checkpoint, folder: Path, job: Job) -> WarmupRecord:
    job.update("copying the ready guest")
    await asyncio.to_thread(checkpoint.check, ready)
    await sparse_copy(ready.ram, folder / RAM_FILE)
    session = Session(
        folder=folder,
        ram=folder / RAM_FILE,
        shared=True,
        socket=folder,
        job=folder / JOB,
        plugin=plan.plugin,
        plugin_arguments={
            **write_inputs(plan, ready, folder),
            "ram": folder / RAM_FILE,
            "state_out": folder / MODEL_STATE,
        },
        incoming=True,
    )
    follower = WarmupFollower(folder / SNAPSHOTS, plan.phases, plan.clients)
    with short_socket(session) as session:
        async with Guest(plan.qemu, plan.boot, session, f"warm-up of {plan.keys.warm.name}") as guest:
            await guest.restore(ready.guest_state)

            def look() -> WarmUp | None:
                if follower.read():
                    guest.moved()
                follower.show(job)
                return follower.ended()

            verdict = await guest.wait("the next sampling interval of the warm-up", look, STALL_S)
            await guest.save(folder / GUEST_STATE)
            await guest.quit()
    if not (folder / MODEL_STATE).is_file():
        raise UserError(
            f"warm-up of {plan.keys.warm.name}: the plugin did not write {MODEL_STATE} (the contents of the model's "
            f"caches) to {folder}; repeat the command"
        )
    return WarmupRecord(
        verdict=verdict.verdict,
        instructions=verdict.instructions,
        drift_points=verdict.drift_points,
        error_points=verdict.error_points,
        clients_finished=verdict.clients_finished,
        reasons=verdict.reasons,
        mips=round(follower.mips or 0.0, 1),
    )


MARGIN = 0.9
"""A warm-up ends at this share of the largest drift allowed. The guest executes a few more sampling intervals before
its region begins, and a run is judged with them: without a margin, chance makes some runs invalid."""


@dataclass
class WarmupFollower:
    """Reads the sampling intervals while the plugin writes them, and decides when the warm-up ends."""

    path: Path
    phases: Phases
    clients: int
    instructions: int = 0
    mips: float | None = None
    _verdict: WarmUp | None = None
    _lines: int = 0
    _times: list[tuple[float, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._reader = Follower(self.path)

    def read(self) -> bool:
        """Read new sampling intervals; return whether there were any. The first line is the header."""
        new = len(self._reader.lines())
        self._lines += new
        if not new or self._lines < 2:
            return False
        self._verdict = warm_up(self.path, self.clients, self.phases.drift_points)
        self.instructions = self._verdict.instructions
        self._times.append((time.monotonic(), self.instructions))
        (then, before), (now, after) = self._times[0], self._times[-1]
        if now > then:
            self.mips = (after - before) / (now - then) / 1e6
        return True

    def ended(self) -> WarmUp | None:
        """The verdict if the warm-up has ended: in steady state (with MARGIN) and long enough, or at its limit. Else
        None."""
        if self._verdict is None or self.instructions < self.phases.warmup_min:
            return None
        settled = self._verdict.verdict == "steady" and self._verdict.keeps(MARGIN * self.phases.drift_points)
        if settled or self.instructions >= self.phases.warmup_max:
            return self._verdict
        return None

    def show(self, job: Job) -> None:
        """Update the progress line."""
        if self._verdict is None:
            job.update("starting the load")
            return
        drifts = [abs(drift) for drift in self._verdict.drift_points.values() if drift is not None]
        moved = [f"shares moved {max(drifts):.1f} points", f"{self.phases.drift_points:g} allowed"] if drifts else []
        total = self.phases.warmup_max
        then, done = self._times[-1]
        estimate = min(guess(done, then, self.mips, self.phases.sampling_interval), total)
        # Nobody knows the length of a warm-up, but its limit.
        job.update("warm-up", estimate, total, self.mips, details=[*moved, instructions_text(done)], at_most=True)


def guess(done: int, then: float, mips: float | None, interval: int) -> float:
    """Estimate the present number of instructions, at most one sampling interval ahead of the last known number.

    done: the number of instructions at the time `then`.
    then: the time of the last sampling interval.
    mips: the speed in million instructions per second.
    interval: the length of a sampling interval.
    """
    return done + min((time.monotonic() - then) * (mips or 0.0) * 1e6, interval)
