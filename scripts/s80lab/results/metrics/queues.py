# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of queueing for the bus and memory, on machines with a service time for them ([bandwidth])."""

from __future__ import annotations

from collections.abc import Callable

from s80lab.base.vocabulary import LABELS
from s80lab.results.metrics.registry import Measurement, Value, metric, ratio

RESOURCES = LABELS["resource"]


def _of_each(m: Measurement, part: str, whole: Callable[[str], float]) -> Value:
    """part / whole by resource. None without queues: gem5, older runs, and machines without [bandwidth]."""
    if part not in m.region.header.statistics:
        return dict.fromkeys(RESOURCES)
    return {
        resource: ratio(m.region.total(part, resource=resource), whole(resource)) if _requests(m, resource) else None
        for resource in RESOURCES
    }


def _requests(m: Measurement, resource: str) -> int:
    return m.region.total("queue_requests", resource=resource)


@metric(
    "share",
    "utilisation of the bus, and of the memory banks; null if the machine has no [bandwidth], so that requests "
    "never queue",
    "queue_busy_cycles / (clock_ns x clock_hz x banks), which is requests per second x service time / banks",
)
def _queue_utilisation(m: Measurement) -> Value:
    cycles, banks = m.seconds * m.region.header.clock_hz, m.region.header.memory_banks
    return _of_each(m, "queue_busy_cycles", lambda resource: cycles * (banks if resource == "memory" else 1))


@metric(
    "cycles per request",
    "mean time for which a request waits for the bus (bus), and for which a request to memory waits for its "
    "memory bank (memory); null if the machine has no [bandwidth]",
    "queue_wait_cycles / queue_requests",
)
def _queue_wait(m: Measurement) -> Value:
    return _of_each(m, "queue_wait_cycles", lambda resource: _requests(m, resource))
