# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the guest's kernel by its own counters (guest/counters.py), and of its time against the modelled clock.

A run whose snapshots have no such counters (a replay) has no such values; gem5 counts interrupts and context switches.
"""

from __future__ import annotations

from collections.abc import Callable

from s80lab.results.metrics.registry import Measurement, Value, metric, ratio

_PER_TASK = {"migrations": "task_migrations."}
_NOT_EVENTS = ("task_ns.", "task_migrations.", "waiting_ns", "cpu_ns.", "disk", "jiffies")


def _events(m: Measurement) -> dict[str, int]:
    """Everything that was counted by events, with the migrations of all tasks together."""
    counted = m.region.guest
    events = {name: count for name, count in counted.items() if not name.startswith(_NOT_EVENTS)}
    for name, prefix in _PER_TASK.items():
        parts = [count for key, count in counted.items() if key.startswith(prefix)]
        if parts:
            events[name] = sum(parts)
    return events


def _each(m: Measurement, share: Callable[[int], float | None]) -> Value:
    return {name: share(count) for name, count in _events(m).items()} or None


def guest_ns(m: Measurement) -> int:
    """One nanosecond an instruction of whatever processor, and the idle gaps."""
    return m.region.instructions + m.region.idle_ns


@metric(
    "tick_hz",
    "Hz",
    "timer interrupts of a processor in a modelled second",
    "interrupt.timer / (cores x clock_ns)",
)
def _tick_hz(m: Measurement) -> Value:
    ticks = m.region.guest.get("interrupt.timer")
    return None if ticks is None else ratio(ticks, m.region.header.cores * m.seconds)


@metric(
    "guest_time_ratio",
    "ratio",
    "the guest's time for each unit of modelled time: 1 where the kernel's clock is the machine's",
    "(instructions + idle_ns) / clock_ns; null in gem5, whose guest's time is the machine's",
)
def _guest_time_ratio(m: Measurement) -> Value:
    return None if m.region.header.engine == "gem5" else ratio(guest_ns(m), m.region.clock_ns)


@metric(
    "tick_hz_wanted",
    "Hz",
    "timer interrupts a processor and modelled second that the machine file asks for; null for the kernel's own",
    "guest.tick_hz",
    of_caches=False,
)
def _tick_hz_wanted(m: Measurement) -> Value:
    return m.wanted.get("tick_hz") or None


@metric(
    "guest_time_ratio_wanted",
    "ratio",
    "guest_time_ratio that the machine file reckons with",
    "guest.time_ratio",
    of_caches=False,
)
def _guest_time_ratio_wanted(m: Measurement) -> Value:
    return m.wanted.get("time_ratio")


@metric(
    "guest_rate",
    "per modelled second",
    "what the guest's kernel counted on all processors: interrupts and soft interrupts by type, context switches, "
    "migrations, page faults, page activations, pages freed, forks",
    "counter / clock_ns",
)
def _guest_rate(m: Measurement) -> Value:
    return _each(m, lambda count: ratio(count, m.seconds))


@metric(
    "guest_per_transaction",
    "per transaction",
    "the same for each good transaction",
    "counter / TX_END markers (good)",
)
def _guest_per_transaction(m: Measurement) -> Value:
    done = m.region.total("transactions", outcome="good")
    return _each(m, lambda count: ratio(count, done))


@metric(
    "guest_time_share",
    "share",
    "processor time by process name, of the tasks that were there when the region began; kernel: kernel threads",
    "task_ns of the name / of all",
    of_caches=False,
)
def _guest_time_share(m: Measurement) -> Value:
    prefix = "task_ns."
    times = {name.removeprefix(prefix): ns for name, ns in m.region.guest.items() if name.startswith(prefix)}
    return {name: ratio(ns, sum(times.values())) for name, ns in times.items() if ns} or None


@metric(
    "run_queue",
    "tasks",
    "tasks that waited for a processor, on average and for each processor, besides the one that ran",
    "waiting_ns / (cores x (instructions + idle_ns))",
    of_caches=False,
)
def _run_queue(m: Measurement) -> Value:
    waited = m.region.guest.get("waiting_ns")
    return None if waited is None else ratio(waited, m.region.header.cores * guest_ns(m))
