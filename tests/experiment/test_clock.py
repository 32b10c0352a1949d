# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulated time on the real guest, under cheap transactions: laws that hold whatever the machine is like.

Numbers come from both ends: transactions and time from the plugin's snapshots, response and think times from the load
generator, which reads the guest's clock alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.lab import LIMIT_S, Lab

from s80lab.config.mix import Workload
from s80lab.config.workload import Imap, job_text, load_workload
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.plan import Options, Plan, plan
from s80lab.experiment.warm import write_inputs
from s80lab.guest.command import JOB, Session
from s80lab.guest.process import Guest, short_socket
from s80lab.guest.qemu import find_qemu
from s80lab.results.run_folder import SNAPSHOTS
from s80lab.results.snapshots import Delta, Snapshots

pytestmark = pytest.mark.guest

# Think times of 32 clients. Saturated are clients that never think, not all processors: the load generator has one
# thread, and a transaction is cheap for the server.
THINK_MS = {"lightly loaded": 200, "saturated": 0}
# Of every latency of the machine.
FASTER, SLOWER = 1, 8
# Instructions; a cheap transaction takes about a million. If the load is saturated, some transactions take long. Those
# that have not ended when the region ends are missing from throughput x response: 5% in a region of 600 M. In a region
# of 1.2 G the missing part reached 5.2% on one boot, so the region is 2.4 G.
SKIP, INTERVAL = 200_000_000, 20_000_000
MEASURE = {"lightly loaded": 700_000_000, "saturated": 2_400_000_000}


@dataclass(frozen=True)
class Measured:
    """One measured region and what the load generator said of it."""

    clients: int
    snapshots: Snapshots
    result: dict[str, Any]

    @property
    def region(self) -> Delta:
        return self.snapshots.region()

    @property
    def per_ms(self) -> float:
        """Transactions a modelled millisecond, by the plugin's count."""
        return float(self.region["transactions"].sum()) / self.region.clock_ns * 1e6

    @property
    def response_ms(self) -> float:
        return float(self.result["totals"]["response_ns_mean"]) / 1e6

    @property
    def think_ms(self) -> float:
        return float(self.result["totals"]["think_ns_mean"]) / 1e6


Measure = Callable[[str, int], Measured]


def cheap_workload() -> Workload:
    """VIEW and a few SRCH: no mailbox is rewritten. Clients whose think time is constant would gather, all that one
    late wake finds due going on together, and a region would hold a gathering more or less."""
    mix = dict.fromkeys(Imap.WHAT, 0.0) | {"VIEW": 90.0, "SRCH": 10.0}
    changed = {"driver": "independent", "mix_percent": mix, "think": "exponential", "incoming_per_s": 0.0}
    return Imap.model_validate(load_workload("imapb").model_dump() | changed)


def tiny_plan(latency_factor: int) -> Plan:
    """The tiny experiment on its machine with every latency multiplied."""
    qemu = find_qemu()
    latency = plan("imapb", Options(scale="tiny"), qemu).machine.latency
    settings = {f"latency.{key}": latency_factor * cycles for key, cycles in latency if cycles}
    return plan("imapb", Options(scale="tiny", settings=settings), qemu)


def measure(tiny: Plan, ready: Checkpoint, load: str, folder: Path) -> Measured:
    """Runs the cheap transactions from the ready checkpoint with the plugin on."""
    inputs = write_inputs(tiny, ready, folder)
    users = tiny.scale.users
    job = job_text(cheap_workload(), clients=tiny.clients, users=users, seed=1, think_ms=THINK_MS[load])
    (folder / JOB).write_text(job)
    session = Session(
        folder=folder,
        ram=ready.ram,
        shared=False,
        socket=folder,
        job=folder / JOB,
        plugin=tiny.plugin,
        plugin_arguments={
            **inputs,
            "ram": ready.ram,
            "skip": SKIP,
            "measure": MEASURE[load],
            "sampling_interval": INTERVAL,
        },
        incoming=True,
    )

    async def result() -> dict[str, Any]:
        with short_socket(session) as short:
            async with Guest(tiny.qemu, tiny.boot, short, "cheap transactions") as guest:
                await guest.restore(ready.guest_state)
                said = await guest.event("result", LIMIT_S, lambda: None)
                await guest.quit()
                return said

    return Measured(tiny.clients, result=asyncio.run(result()), snapshots=Snapshots.read(folder / SNAPSHOTS))


@pytest.fixture(scope="module")
def measured(whole: Lab, tmp_path_factory: pytest.TempPathFactory) -> Measure:
    """Measures a load at a multiple of the machine's latencies, each once."""

    @cache
    def at(load: str, latency_factor: int) -> Measured:
        tiny = tiny_plan(latency_factor)
        with whole.entered():
            ready = checkpoint.find(tiny.keys.ready.name, tiny.keys.ready.key)
        assert ready is not None
        return measure(tiny, ready, load, tmp_path_factory.mktemp("clock"))

    return at


@pytest.mark.parametrize("latency_factor", [FASTER, SLOWER])
@pytest.mark.parametrize("load", THINK_MS)
def test_clients_are_throughput_times_think_and_response(measured: Measure, load: str, latency_factor: int) -> None:
    one = measured(load, latency_factor)
    assert set(one.result["errors"].values()) == {0}
    # As the job says, and as they came out: a timer fires when the load generator next looks at the clock.
    for think_ms in (THINK_MS[load], one.think_ms):
        assert one.per_ms * (think_ms + one.response_ms) == pytest.approx(one.clients, rel=0.05)


def test_clock_test_loads_are_light_and_saturated(measured: Measure) -> None:
    share = {load: busy_share(measured(load, FASTER).region) for load in THINK_MS}
    assert share["lightly loaded"] < 0.2
    assert share["saturated"] > 0.35


def test_clock_advances_with_the_cycles_of_busy_processors(measured: Measure) -> None:
    """The law holds for any clock that throughput, think and response times share; this one knows how long a cycle
    lasts. No processor has more cycles than the clock gave it, but for its lead at the end, of which an interval has
    more than the region. The saturated load leaves some processors idle, which and how many differs by start of the
    guest; in its busiest interval the busier third does not sleep."""
    snapshots = measured("saturated", FASTER).snapshots
    region = snapshots.region()
    assert region.header.longest_lead_ns is not None
    lead = region.header.longest_lead_ns / region.clock_ns
    assert lead < 0.1
    assert max(busy_shares(region)) <= 1 + lead
    busiest = max((interval for interval in snapshots.intervals() if interval.instructions >= INTERVAL), key=busy_share)
    shares = sorted(busy_shares(busiest), reverse=True)[: busiest.header.cores // 3]
    assert sum(shares) / len(shares) >= 0.9


def test_longer_latencies_lengthen_the_response_time(measured: Measure) -> None:
    """Saturated, it is mostly waiting for a processor, which differs by more from start to start."""
    assert measured("lightly loaded", SLOWER).response_ms > measured("lightly loaded", FASTER).response_ms


@pytest.mark.parametrize("load", THINK_MS)
def test_longer_latencies_raise_the_cpi(measured: Measure, load: str) -> None:
    assert cpi(measured(load, SLOWER).region) > cpi(measured(load, FASTER).region)


def busy_shares(part: Delta) -> list[float]:
    """Busy cycles of each processor over the cycles that the clock gave it."""
    cycles = part.clock_ns * part.header.clock_hz / 1e9
    return [busy / cycles for busy in part["busy_cycles"].tolist()]


def busy_share(part: Delta) -> float:
    """The same of all processors together."""
    return sum(busy_shares(part)) / part.header.cores


def cpi(part: Delta) -> float:
    return float(part["busy_cycles"].sum()) / part.instructions
