# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics from the guest kernel's counters (guest/counters.py), and the speed of the guest's clock.

Runs whose snapshots lack these counters (replays) lack the metrics. gem5 counts only interrupts and context switches.
"""

from __future__ import annotations

from collections.abc import Callable

from s80lab.base.format import ONE, PERCENT, THREE, WHOLE
from s80lab.config.machine import clock_shift
from s80lab.results.metrics.registry import Measurement, Rows, Value, metric, ratio

EVENTS = {
    "context_switches": "context switches",
    "migrations": "task migrations",
    "page_faults": "page faults",
    "page_activations": "page activations",
    "pages_freed": "pages freed",
    "forks": "forks",
    "interrupt.timer": "interrupts: timer",
    "interrupt.reschedule": "interrupts: reschedule",
    "interrupt.call": "interrupts: function call",
    "interrupt.device": "interrupts: devices",
    "softirq.timer": "soft interrupts: timer",
    "softirq.net_rx": "soft interrupts: network",
    "softirq.sched": "soft interrupts: scheduler",
    "softirq.rcu": "soft interrupts: RCU",
    "softirq.tasklet": "soft interrupts: tasklet",
}
PROCESSES = {
    "imap": "imap (sessions)",
    "imap-login": "imap-login (TLS)",
    "lmtp": "lmtp (deliveries)",
    "smtpd": "smtpd",
    "s80-loadgen": "load generator",
    "kernel": "kernel threads",
}
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


def _clock_shift(m: Measurement) -> int:
    """Machine.clock_shift; 0 in gem5, whose guest has a clock of simulated time."""
    header = m.region.header
    return 0 if header.engine == "gem5" else clock_shift(header.base_cpi, header.clock_hz)


def guest_ns(m: Measurement) -> int:
    """Length of the region on the guest's clock."""
    return m.region.clock_ns << _clock_shift(m)


@metric(
    "Hz",
    "measured rate of timer interrupts, per processor and simulated second",
    "interrupt.timer / (cores x clock_ns)",
    Rows("kernel", WHOLE, "timer interrupts per processor, Hz"),
)
def _tick_hz(m: Measurement) -> Value:
    ticks = m.region.guest.get("interrupt.timer")
    return None if ticks is None else ratio(ticks, m.region.header.cores * m.seconds)


@metric(
    "ratio",
    "seconds of the guest's clock per simulated second. Present only if an instruction of the machine can be shorter "
    "than a nanosecond, the unit of QEMU's clock; in all other runs the guest's clock shows simulated time",
    "2^k, with the smallest k for which base_cpi / clock_hz x 2^k is at least 1 ns",
    Rows("load", WHOLE, "guest seconds per simulated second"),
    of_caches=False,
)
def _guest_clock_speed(m: Measurement) -> Value:
    shift = _clock_shift(m)
    return 2**shift if shift else {}


@metric(
    "events per simulated second",
    "events that the guest kernel counted on all processors, by type: interrupts and soft interrupts of each "
    "type, context switches, task migrations, page faults, page activations, pages freed, forks",
    "counter / clock_ns",
    Rows("kernel", WHOLE, EVENTS, "events per simulated second, all processors"),
)
def _guest_rate(m: Measurement) -> Value:
    return _each(m, lambda count: ratio(count, m.seconds))


@metric(
    "events per transaction",
    "events that the guest kernel counted on all processors (as in guest_rate), per successful transaction",
    "counter / TX_END markers (good)",
    Rows("kernel", ONE, EVENTS, "events per transaction"),
)
def _guest_per_transaction(m: Measurement) -> Value:
    done = m.region.total("transactions", outcome="good")
    return _each(m, lambda count: ratio(count, done))


@metric(
    "share",
    "share of the processor time that tasks of each process name used. Only tasks that existed at the start of "
    "the run are counted; kernel: all kernel threads",
    "task_ns of the name / task_ns of all names",
    Rows("kernel", PERCENT, PROCESSES, "processor time by process"),
    of_caches=False,
)
def _guest_time_share(m: Measurement) -> Value:
    prefix = "task_ns."
    times = {name.removeprefix(prefix): ns for name, ns in m.region.guest.items() if name.startswith(prefix)}
    return {name: ratio(ns, sum(times.values())) for name, ns in times.items() if ns} or None


@metric(
    "tasks per processor",
    "mean number of tasks per processor that are runnable but not running",
    "waiting_ns / (cores x clock_ns x guest_clock_speed)",
    Rows("kernel", THREE, "waiting tasks per processor"),
    of_caches=False,
)
def _run_queue(m: Measurement) -> Value:
    waited = m.region.guest.get("waiting_ns")
    return None if waited is None else ratio(waited, m.region.header.cores * guest_ns(m))
