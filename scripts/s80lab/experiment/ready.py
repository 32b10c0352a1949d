# SPDX-License-Identifier: GPL-2.0-or-later
"""The ready checkpoint: a guest that has booted, filled its mail store and logged its clients in.

One ready checkpoint serves every mix and seed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from s80lab.base.progress import Job, clock
from s80lab.experiment import checkpoint, resources
from s80lab.experiment.checkpoint import GUEST_STATE, Checkpoint, Manifest
from s80lab.experiment.plan import Plan
from s80lab.guest.command import JOB, RAM_FILE, Session
from s80lab.guest.console import boot_stage
from s80lab.guest.process import Guest, short_socket

# Without any sign of life. The guest reports its stages, but logging the clients in is one of them, and at the paper's
# scale it takes minutes; servers that do not answer meanwhile are the load generator's to report.
STALL_S = 1800.0


async def build_ready(
    plan: Plan, slots: AbstractAsyncContextManager[object], job: Job, stall_s: float = STALL_S
) -> Checkpoint:
    """The ready checkpoint of the plan, built unless it exists.

    slots: entered for the boot; limits the number of guests that run at once.
    stall_s: seconds without a sign of life after which the boot fails.
    """

    async def make(folder: Path) -> dict[str, object]:
        await _boot(plan, folder, job, stall_s)
        return {"qemu_version": plan.qemu.version}

    return await checkpoint.build(plan.keys.wanted("ready"), job, make, slots)


async def _boot(plan: Plan, folder: Path, job: Job, stall_s: float) -> None:
    began, typical = time.monotonic(), recorded_boot(plan.scale_name, checkpoint.STORE.all())
    job_file = folder / JOB
    job_file.write_text(plan.login_job())
    session = Session(folder=folder, ram=folder / RAM_FILE, shared=True, socket=folder, job=job_file)
    with short_socket(session) as session:
        async with Guest(plan.qemu, plan.boot, session, f"boot of {plan.keys.ready.name}") as guest:

            def show() -> None:
                stage, details = boot_stage(guest.stage)
                show_boot(job, stage, details, time.monotonic() - began, typical)

            await guest.event("ready", stall_s, show)
            await guest.save(folder / GUEST_STATE)
            await guest.quit()


def recorded_boot(scale: str, manifests: Sequence[Manifest]) -> float | None:
    """Seconds that the last ready checkpoint of this scale took under QEMU; None without a record."""
    prefix = f"ready-{scale}-"
    boots = [one for one in manifests if one.engine == "qemu" and one.stage == "ready" and one.name.startswith(prefix)]
    return max(boots, key=lambda one: one.created).wall_s if boots else None


def boot_cost(plan: Plan) -> float:
    """Expected seconds of the boot of the plan's ready checkpoint."""
    return recorded_boot(plan.scale_name, checkpoint.STORE.all()) or resources.boot_s(plan.scale)


def show_boot(job: Job, stage: str, details: Sequence[str], elapsed: float, typical: float | None) -> None:
    """Show a boot: its share of the recorded duration, or only the time since the stage began.

    Without a recorded duration, or after it, nobody knows how far the boot is.

    stage, details: what the guest does now.
    elapsed: seconds since the boot began.
    typical: seconds of a whole boot, or None if no boot is recorded.
    """
    if typical is None:
        job.update(stage, details=details)
        return
    how_far = f"{clock(elapsed)} of about {clock(typical)}"
    if elapsed < typical:
        job.update(stage, elapsed, typical, details=[how_far, *details], left_s=typical - elapsed)
    else:
        job.update(stage, details=[how_far, *details])
