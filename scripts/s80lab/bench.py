# SPDX-License-Identifier: GPL-2.0-or-later
"""What the model and its captures cost: the same load from the same ready checkpoint, with and without them."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from s80lab import paths
from s80lab.bench_replay import bench_replay
from s80lab.checkpoint import SNAPSHOTS, Checkpoint
from s80lab.checkpoint_warm import STALL_S, write_inputs
from s80lab.experiment import Plan
from s80lab.follow import Follower
from s80lab.guest import Guest, short_socket
from s80lab.guest_command import JOB, Session

# Under icount one instruction is one nanosecond of guest time, and clients without think time leave no idle time
# to jump over: the bare guest's clock counts instructions.
LENGTH = 3_000_000_000
WINDOW = 500_000_000
# A full capture is thirty times as large as a filtered one.
FULL_LENGTH = 500_000_000


@dataclass(frozen=True)
class Rate:
    """Instructions after the clients' login, and the wall-clock seconds that they took."""

    instructions: int
    seconds: float

    @property
    def mips(self) -> float:
        return self.instructions / self.seconds / 1e6


@dataclass(frozen=True)
class Rates:
    """The same load without the plugin, with it, and with the plugin writing captures."""

    bare: Rate
    modelled: Rate
    filtered: Rate
    full: Rate


async def bench(plan: Plan, ready: Checkpoint, captures: Path, say: Callable[[str], None]) -> Rates:
    """One after the other on an otherwise idle machine; the captures stay in the folder."""
    busy = replace(plan, phases=plan.phases.model_copy(update={"think_ms": 0, "window": WINDOW}))

    async def captured(form: str, length: int) -> Rate:
        # A capture ends with the measured region.
        region = {"skip": 1, "measure": length, f"capture_{form}": captures / f"{form}.s80c"}
        name = f"writing a {form} capture"
        return await in_folder(name, lambda folder: _modelled(busy, ready, folder, length, region))

    async def in_folder(name: str, measure: Callable[[Path], Awaitable[Rate]]) -> Rate:
        folder = Path(tempfile.mkdtemp(prefix="bench-", dir=paths.BUILD))
        try:
            rate = await measure(folder)
        finally:
            shutil.rmtree(folder)
        say(f"{name}: {rate.mips:.0f} MIPS ({rate.instructions / 1e9:.2f} G instructions in {rate.seconds:.1f} s)")
        return rate

    return Rates(
        bare=await in_folder("bare", lambda folder: _bare(busy, ready, folder)),
        modelled=await in_folder("with the plugin", lambda folder: _modelled(busy, ready, folder, LENGTH, {})),
        filtered=await captured("filtered", LENGTH),
        full=await captured("full", FULL_LENGTH),
    )


async def _bare(plan: Plan, ready: Checkpoint, folder: Path) -> Rate:
    (folder / JOB).write_text(plan.job() + f"warmup_s=0\nmeasure_s={LENGTH / 1e9}\n")
    session = Session(folder, ready.ram, shared=False, socket=folder, job=folder / JOB, incoming=True)
    with short_socket(session) as session:
        async with Guest(plan.qemu, plan.boot, session, "bench without the plugin") as guest:
            await guest.restore(ready.guest_state)
            begin = await guest.event("load_begin", STALL_S, lambda: None)
            began = time.monotonic()
            result = await guest.event("result", STALL_S, lambda: None)
            return Rate(result["region"]["end_ns"] - begin["clock_ns"], time.monotonic() - began)


async def _modelled(plan: Plan, ready: Checkpoint, folder: Path, length: int, arguments: Mapping[str, object]) -> Rate:
    values = {**write_inputs(plan, ready, folder), "ram": ready.ram, **arguments}
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
    lines = Follower(folder / SNAPSHOTS)
    with short_socket(session) as session:
        async with Guest(plan.qemu, plan.boot, session, "bench with the plugin") as guest:
            await guest.restore(ready.guest_state)
            began: tuple[int, float] | None = None

            def look() -> Rate | None:
                nonlocal began
                for line in lines.lines():
                    guest.moved()
                    snapshot = json.loads(line)
                    at, now = snapshot.get("instructions", 0), time.monotonic()
                    if snapshot.get("mark") == "load_begin":
                        began = at, now
                    elif began is not None and at - began[0] >= length:
                        return Rate(at - began[0], now - began[1])
                return None

            rate = await guest.wait("the load's next window", look, STALL_S)
            await guest.quit()
            return rate


def run_bench(plan: Plan, ready: Checkpoint, say: Callable[[str], None]) -> None:
    """Says what each costs, then how fast the captures replay."""
    captures = Path(tempfile.mkdtemp(prefix="bench-captures-", dir=paths.BUILD))
    try:
        rates = asyncio.run(bench(plan, ready, captures, say))
        say(f"the model keeps {rates.modelled.mips / rates.bare.mips:.2f} of the bare speed")
        slower = rates.modelled.mips / rates.filtered.mips - 1
        say(f"a filtered capture slows the run by {slower:.0%}")
        bench_replay(captures / "full.s80c", captures / "filtered.s80c", say)
    finally:
        shutil.rmtree(captures)
