# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmark of the guest's speed: one load from one ready checkpoint, with and without the model and with captures."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.follow import Follower
from s80lab.base.programs import built
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.plan import Plan
from s80lab.experiment.warm import STALL_S, write_inputs
from s80lab.guest.command import JOB, Session
from s80lab.guest.process import Guest, short_socket
from s80lab.results.run_folder import MISS_LOG, SNAPSHOTS

BENCH = paths.BIN / "bench_replay"


def bench_replay(full: Path, filtered: Path, say: Callable[[str], None]) -> None:
    """Report the rates of one host core for the captures `full` and `filtered`.

    Raises UserError if the benchmark program is missing.
    """
    if not BENCH.is_file():
        raise UserError(f"{BENCH} is missing: install libbenchmark-dev, then run `make bench`")
    environment = {**os.environ, "S80_BENCH_FULL": str(full), "S80_BENCH_FILTERED": str(filtered)}
    done = subprocess.run(
        [str(BENCH), "--benchmark_format=json"], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UserError(f"{BENCH} failed: {done.stderr.strip().splitlines()[-1:] or done.returncode}")
    # A benchmark's name goes on with its settings.
    results = {one["name"].partition("/")[0]: one for one in json.loads(done.stdout)["benchmarks"]}

    def millions(name: str, counter: str) -> float:
        return float(results[name][counter]) / 1e6

    floor = millions("tag_walk", "events")
    for suffix, how in (("", "one host core"), ("_read_ahead", "a second core reads ahead")):
        filtered_rate, full_rate = (
            millions(f"replay_filtered{suffix}", "instructions"),
            millions(f"replay_full{suffix}", "events"),
        )
        say(f"replay of the filtered capture, {how}: {filtered_rate:.0f} M instructions/s")
        say(
            f"replay of the full capture, {how}: {full_rate:.1f} M recorded accesses/s, "
            f"{full_rate / floor:.0%} of the speed of a loop that only searches the same tags"
        )
    say(
        f"full capture, one host core, M events/s: reading {millions('read_full', 'events'):.0f}, writing "
        f"{millions('write_full', 'events'):.0f}, L1 filter {millions('filter', 'events'):.0f}"
    )


# Under icount one instruction is one nanosecond of virtual time, and clients without think time leave no idle time
# to jump over: the bare guest's clock counts instructions.
LENGTH = 1_500_000_000
INTERVAL = 250_000_000
# A full capture is thirty times as large as a filtered one.
FULL_LENGTH = 500_000_000
# A host that is shared is slower at some minutes than at others: what is compared runs one after the other, in rounds.
ROUNDS = 3


@dataclass(frozen=True)
class Rate:
    """Instructions since the clients logged in, and the wall-clock seconds in which the host executed these
    instructions."""

    instructions: int
    seconds: float

    @property
    def mips(self) -> float:
        return self.instructions / self.seconds / 1e6


class Rates:
    """The rates of each kind of run, one per round."""

    def __init__(self) -> None:
        self._mips: defaultdict[str, list[float]] = defaultdict(list)

    def add(self, kind: str, rate: Rate) -> None:
        self._mips[kind].append(rate.mips)

    def median(self, kind: str) -> float:
        """The median rate of a kind of run, in million instructions per second."""
        return statistics.median(self._mips[kind])

    def ratio(self, kind: str, to: str) -> float:
        """The rate of `kind` divided by the rate of `to`, as the median over the rounds."""
        return statistics.median(a / b for a, b in zip(self._mips[kind], self._mips[to], strict=True))


# Kinds of run: without the model, with QEMU's own time slices, with slices as short as the model's, and with an empty
# function called for each access besides; with the model; with attribution of every miss; while a capture is written.
UNBOUNDED, BARE = "no model, QEMU's time slices", "no model, short time slices"
CALLED = "no model, short time slices and an empty call per access"
MODELLED, NAMED = "with the model", "with the model and attributed misses"
FILTERED, FULL = "with the model, writing a filtered capture", "with the model, writing a full capture"


async def bench(plan: Plan, ready: Checkpoint, captures: Path, say: Callable[[str], None]) -> Rates:
    """Measure all kinds of run one after the other; the captures of the last round stay in `captures`.

    The host must be idle otherwise.
    """
    busy = replace(plan, phases=plan.phases.model_copy(update={"think_ms": 0, "sampling_interval": INTERVAL}))

    def modelled(length: int, **files: Path) -> Callable[[Path], Awaitable[Rate]]:
        # What is written is of the measured region: a capture ends with it.
        region = {"skip": 1, "measure": length, **files} if files else {}
        return lambda folder: modelled_rate(busy, ready, folder, length, region)

    bound = {"instructions": _longest_slice(plan)}
    kinds = {
        UNBOUNDED: lambda folder: _bare(busy, ready, folder, {}),
        BARE: lambda folder: _bare(busy, ready, folder, bound),
        CALLED: lambda folder: _bare(busy, ready, folder, {**bound, "accesses": "empty"}),
        MODELLED: modelled(LENGTH),
        NAMED: modelled(LENGTH, misses=captures / MISS_LOG),
        FILTERED: modelled(LENGTH, capture_filtered=captures / "filtered.s80c"),
        FULL: modelled(FULL_LENGTH, capture_full=captures / "full.s80c"),
    }
    rates = Rates()
    for number in range(1, ROUNDS + 1):
        for kind, measure in kinds.items():
            folder = Path(tempfile.mkdtemp(prefix="bench-", dir=paths.BUILD))
            try:
                rate = await measure(folder)
            finally:
                shutil.rmtree(folder)
            rates.add(kind, rate)
            took = f"{rate.instructions / 1e9:.2f} G instructions in {rate.seconds:.1f} s"
            say(f"round {number}, {kind}: {rate.mips:.0f} MIPS ({took})")
    return rates


def _session(ready: Checkpoint, folder: Path, plugin: Path | None, arguments: Mapping[str, object]) -> Session:
    """A guest that resumes from the ready checkpoint with the job in the folder."""
    return Session(
        folder,
        ready.ram,
        shared=False,
        socket=folder,
        job=folder / JOB,
        plugin=plugin,
        plugin_arguments=arguments,
        incoming=True,
    )


def _longest_slice(plan: Plan) -> int:
    """Instructions in a time slice of a processor that never stalls and uses up its share of an epoch in one slice."""
    clock = plan.machine.clock
    return max(1, int(clock.epoch_cycles / clock.base_cpi))


async def _bare(plan: Plan, ready: Checkpoint, folder: Path, arguments: Mapping[str, object]) -> Rate:
    """Measure without the model.

    arguments: of the plugin that bounds time slices; none: without a plugin.
    """
    (folder / JOB).write_text(plan.job() + f"warmup_s=0\nmeasure_s={LENGTH / 1e9}\n")
    plugin = built(paths.SLICES_PLUGIN) if arguments else None
    with short_socket(_session(ready, folder, plugin, arguments)) as session:
        async with Guest(plan.qemu, plan.boot, session, "bench without the plugin") as guest:
            await guest.restore(ready.guest_state)
            begin = await guest.event("load_begin", STALL_S, lambda: None)
            began = time.monotonic()
            result = await guest.event("result", STALL_S, lambda: None)
            ns = result["region"]["end_ns"] - begin["clock_ns"]
            return Rate(ns << plan.machine.clock_shift, time.monotonic() - began)  # 1 ns per instruction


async def modelled_rate(
    plan: Plan, ready: Checkpoint, folder: Path, length: int, arguments: Mapping[str, object]
) -> Rate:
    """Measure the guest with the model from the ready checkpoint. arguments: further arguments of the plugin."""
    values = {**write_inputs(plan, ready, folder), "ram": ready.ram, **arguments}
    lines = Follower(folder / SNAPSHOTS)
    with short_socket(_session(ready, folder, plan.plugin, values)) as session:
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

            rate = await guest.wait("the next sampling interval of the load", look, STALL_S)
            await guest.quit()
            return rate


def run_bench(plan: Plan, ready: Checkpoint, say: Callable[[str], None]) -> None:
    """Report the speed of each kind of run, then the speed at which the captures replay."""
    captures = Path(tempfile.mkdtemp(prefix="bench-captures-", dir=paths.BUILD))
    try:
        rates = asyncio.run(bench(plan, ready, captures, say))
        for kind in (UNBOUNDED, BARE, CALLED, MODELLED, NAMED, FILTERED, FULL):
            say(f"{kind}: {rates.median(kind):.0f} MIPS")
        say(
            f"with the model: {rates.ratio(MODELLED, UNBOUNDED):.2f} of the speed of QEMU without a plugin, with its "
            "own time slices"
        )
        say(
            f"time slices of at most {_longest_slice(plan)} instructions alone: "
            f"{rates.ratio(BARE, UNBOUNDED):.2f} of that speed; with the model {rates.ratio(MODELLED, BARE):.2f} of "
            "what they keep"
        )
        say(
            f"with an empty call per access besides: {rates.ratio(CALLED, UNBOUNDED):.2f} of that speed; with the "
            f"model {rates.ratio(MODELLED, CALLED):.2f} of what they keep"
        )
        say(
            f"with the model and attributed misses: {rates.ratio(NAMED, BARE):.0%} of the guest's speed "
            "without the model"
        )
        say(
            f"a run that also writes a filtered capture takes {1 / rates.ratio(FILTERED, MODELLED) - 1:.0%} "
            "more time than a run with the model alone"
        )
        bench_replay(captures / "full.s80c", captures / "filtered.s80c", say)
    finally:
        shutil.rmtree(captures)
