# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics from the guest kernel's counters (guest/counters.py), and the ratio of virtual time to simulated time.

Runs whose snapshots lack these counters (replays) lack the metrics. gem5 counts only interrupts and context switches.
"""

from __future__ import annotations

from collections.abc import Callable

from s80lab.results.metrics.registry import Measurement, Value, metric, ratio

_PER_TASK = {"migrations": "task_migrations."}
_NOT_EVENTS = ("task_ns.", "task_migrations.", "waiting_ns", "cpu_ns.", "disk", "jiffies")


def _events(m: Measurement) -> dict[str, int]:
    """All counters of events; the migrations of all tasks are summed."""
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
    """Length of the region in virtual time: 1 ns per instruction of all processors together, plus idle gaps."""
    return m.region.instructions + m.region.idle_ns


@metric(
    "tick_hz",
    "Hz",
    "measured rate of timer interrupts, per processor and simulated second",
    "interrupt.timer / (cores x clock_ns)",
)
def _tick_hz(m: Measurement) -> Value:
    ticks = m.region.guest.get("interrupt.timer")
    return None if ticks is None else ratio(ticks, m.region.header.cores * m.seconds)


@metric(
    "guest_time_ratio",
    "ratio",
    "measured virtual time per simulated time. It is 1 if the guest kernel's clock runs at the speed of the "
    "modelled machine",
    "(instructions + idle_ns) / clock_ns; null in gem5, where both times are equal",
)
def _guest_time_ratio(m: Measurement) -> Value:
    return None if m.region.header.engine == "gem5" else ratio(guest_ns(m), m.region.clock_ns)


@metric(
    "tick_hz_wanted",
    "Hz",
    "rate of timer interrupts, per processor and simulated second, that the machine file requests; null: the "
    "machine file leaves the kernel's own rate",
    "guest.tick_hz",
    of_caches=False,
)
def _tick_hz_wanted(m: Measurement) -> Value:
    return m.wanted.get("tick_hz") or None


@metric(
    "guest_time_ratio_wanted",
    "ratio",
    "virtual time per simulated time that the machine file assumes, for comparison with guest_time_ratio",
    "guest.time_ratio",
    of_caches=False,
)
def _guest_time_ratio_wanted(m: Measurement) -> Value:
    return m.wanted.get("time_ratio")


@metric(
    "guest_rate",
    "events per simulated second",
    "events that the guest kernel counted on all processors, by type: interrupts and soft interrupts of each "
    "type, context switches, task migrations, page faults, page activations, pages freed, forks",
    "counter / clock_ns",
)
def _guest_rate(m: Measurement) -> Value:
    return _each(m, lambda count: ratio(count, m.seconds))


@metric(
    "guest_per_transaction",
    "events per transaction",
    "events that the guest kernel counted on all processors (as in guest_rate), per successful transaction",
    "counter / TX_END markers (good)",
)
def _guest_per_transaction(m: Measurement) -> Value:
    done = m.region.total("transactions", outcome="good")
    return _each(m, lambda count: ratio(count, done))


@metric(
    "guest_time_share",
    "share",
    "share of the processor time that tasks of each process name used. Only tasks that existed at the start of "
    "the run are counted; kernel: all kernel threads",
    "task_ns of the name / task_ns of all names",
    of_caches=False,
)
def _guest_time_share(m: Measurement) -> Value:
    prefix = "task_ns."
    times = {name.removeprefix(prefix): ns for name, ns in m.region.guest.items() if name.startswith(prefix)}
    return {name: ratio(ns, sum(times.values())) for name, ns in times.items() if ns} or None


@metric(
    "run_queue",
    "tasks per processor",
    "mean number of tasks per processor that are runnable but not running",
    "waiting_ns / (cores x (instructions + idle_ns))",
    of_caches=False,
)
def _run_queue(m: Measurement) -> Value:
    waited = m.region.guest.get("waiting_ns")
    return None if waited is None else ratio(waited, m.region.header.cores * guest_ns(m))
