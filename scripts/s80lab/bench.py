# SPDX-License-Identifier: GPL-2.0-or-later
"""What the model costs: the same load from the same ready checkpoint, with the plugin and without it."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from s80lab import paths
from s80lab.checkpoint import SNAPSHOTS, Checkpoint
from s80lab.checkpoint_warm import STALL_S, WarmupFollower, write_inputs
from s80lab.experiment import WARMUP_SEED, Plan
from s80lab.guest import Guest, short_socket
from s80lab.guest_command import JOB, Session

# Under icount one instruction is one nanosecond of guest time, and clients without think time leave no idle time
# to jump over: the bare guest's clock counts instructions.
LENGTH = 3_000_000_000
WINDOW = 500_000_000


@dataclass(frozen=True)
class Rate:
    """Instructions after the clients' login, and the wall-clock seconds that they took."""

    instructions: int
    seconds: float

    @property
    def mips(self) -> float:
        return self.instructions / self.seconds / 1e6


async def bench(plan: Plan, ready: Checkpoint, say: Callable[[str], None]) -> tuple[Rate, Rate]:
    """(without the plugin, with it), one after the other on an otherwise idle machine."""
    busy = replace(plan, phases=plan.phases.model_copy(update={"think_ms": 0, "window": WINDOW}))
    rates: list[Rate] = []
    for name, measure in (("bare", _bare), ("with the plugin", _modelled)):
        folder = Path(tempfile.mkdtemp(prefix="bench-", dir=paths.BUILD))
        try:
            rate = await measure(busy, ready, folder)
        finally:
            shutil.rmtree(folder)
        say(f"{name}: {rate.mips:.0f} MIPS ({rate.instructions / 1e9:.2f} G instructions in {rate.seconds:.1f} s)")
        rates.append(rate)
    return rates[0], rates[1]


async def _bare(plan: Plan, ready: Checkpoint, folder: Path) -> Rate:
    (folder / JOB).write_text(plan.job(WARMUP_SEED) + f"warmup_s=0\nmeasure_s={LENGTH / 1e9}\n")
    session = Session(folder, ready.ram, shared=False, socket=folder, job=folder / JOB, incoming=True)
    with short_socket(session) as session:
        async with Guest(plan.qemu, plan.boot, session, "bench without the plugin") as guest:
            await guest.restore(ready.guest_state)
            begin = await guest.event("load_begin", STALL_S, lambda: None)
            began = time.monotonic()
            result = await guest.event("result", STALL_S, lambda: None)
            return Rate(result["region"]["end_ns"] - begin["clock_ns"], time.monotonic() - began)


async def _modelled(plan: Plan, ready: Checkpoint, folder: Path) -> Rate:
    values = {**write_inputs(plan, folder, WARMUP_SEED), "ram": ready.ram}
    session = Session(
        folder,
        ready.ram,
        shared=False,
        socket=folder,
        job=folder / JOB,
        plugin=plan.plugin,
        plugin_arguments=values,
        incoming=True,
    )
    follower = WarmupFollower(folder / SNAPSHOTS, plan.phases)
    with short_socket(session) as session:
        async with Guest(plan.qemu, plan.boot, session, "bench with the plugin") as guest:
            await guest.restore(ready.guest_state)
            began: float | None = None

            def look() -> Rate | None:
                nonlocal began
                if follower.read():
                    guest.moved()
                    began = began or time.monotonic()
                if began is None or follower.instructions < LENGTH:
                    return None
                return Rate(follower.instructions, time.monotonic() - began)

            return await guest.wait("the load's next window", look, STALL_S)


def run_bench(plan: Plan, ready: Checkpoint, say: Callable[[str], None]) -> float:
    """The plugin's share of the bare speed."""
    bare, modelled = asyncio.run(bench(plan, ready, say))
    share = modelled.mips / bare.mips
    say(f"the model keeps {share:.2f} of the bare speed")
    return share
