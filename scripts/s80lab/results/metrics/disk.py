# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the guest's disks from the guest kernel's counters. Absent if the mail store is in memory.

The kernel measures each request on its own clock, from its creation to its completion, and the busy time of a disk in
ticks (jiffies) of this clock.
"""

from __future__ import annotations

from s80lab.base.format import ONE, PERCENT, TWO
from s80lab.results.metrics.guest import guest_ns
from s80lab.results.metrics.registry import Measurement, Rows, Value, metric, ratio

DISKS = "disks"
_BUSY = "disk_busy_jiffies."


def _busy(m: Measurement) -> dict[str, int]:
    """Jiffies with a request under way, by disk."""
    return {name.removeprefix(_BUSY): count for name, count in m.region.guest.items() if name.startswith(_BUSY)}


def _requests(m: Measurement) -> int:
    return m.region.guest["disk.reads"] + m.region.guest["disk.writes"]


def _in_system(m: Measurement) -> float | None:
    return ratio(m.region.guest["disk_ns.reads"] + m.region.guest["disk_ns.writes"], guest_ns(m))


def _spent_ms(m: Measurement, count: int) -> float | None:
    waiting = _in_system(m)
    return None if waiting is None else ratio(1e3 * m.seconds * waiting, count)


@metric(
    "share",
    "share of the time during which a disk has at least one request; for each disk, and the mean over all disks (all)",
    "disk_busy_jiffies / jiffies",
    Rows("kernel", PERCENT, {"all": "utilisation"}, DISKS),
    of_caches=False,
)
def _disk_utilisation(m: Measurement) -> Value:
    busy, jiffies = _busy(m), m.region.guest.get("jiffies", 0)
    if not busy:
        return {}
    each = {name: ratio(count, jiffies) for name, count in busy.items()}
    return {"all": ratio(sum(busy.values()), jiffies * len(busy)), **each}


@metric(
    "requests per simulated second",
    "read requests and write requests to all disks together, per simulated second",
    "disk.reads, disk.writes / clock_ns",
    of_caches=False,
)
def _disk_rate(m: Measurement) -> Value:
    if not _busy(m):
        return {}
    return {name: ratio(m.region.guest[f"disk.{name}"], m.seconds) for name in ("reads", "writes")}


@metric(
    "requests or KiB per transaction",
    "disk requests (reads, writes) and data transferred (kib_read, kib_written), per successful transaction",
    "disk.reads, disk.writes, disk.sectors_* / 2 / TX_END markers (good)",
    Rows("kernel", TWO, {"reads": "reads per transaction", "writes": "writes per transaction"}, DISKS),
    of_caches=False,
)
def _disk_per_transaction(m: Measurement) -> Value:
    if not _busy(m):
        return {}
    done = m.region.total("transactions", outcome="good")
    counted = m.region.guest
    return {
        **{name: ratio(counted[f"disk.{name}"], done) for name in ("reads", "writes")},
        **{f"kib_{name}": ratio(counted[f"disk.sectors_{name}"] / 2, done) for name in ("read", "written")},
    }


@metric(
    "simulated ms",
    "mean service time of a disk request, calculated from utilisation and request rate with the utilisation law",
    "disk_utilisation.all x disks / requests per simulated second",
    Rows("kernel", TWO, "service time, ms", DISKS),
    of_caches=False,
)
def _disk_service_ms(m: Measurement) -> Value:
    busy, jiffies = _busy(m), m.region.guest.get("jiffies", 0)
    if not busy:
        return {}
    return ratio(1e3 * m.seconds * sum(busy.values()) / jiffies, _requests(m)) if jiffies else None


@metric(
    "requests",
    "mean number of requests that wait for a disk or are in service, summed over all disks",
    "(disk_ns.reads + disk_ns.writes) / (clock_ns x guest_clock_speed)",
    Rows("kernel", ONE, "requests waiting or in service", DISKS),
    of_caches=False,
)
def _disk_queue(m: Measurement) -> Value:
    return _in_system(m) if _busy(m) else {}


@metric(
    "simulated ms",
    "mean response time of a disk request, from its creation to its completion, calculated with Little's law",
    "disk_queue / requests per simulated second",
    Rows("kernel", TWO, "response time, ms", DISKS),
    of_caches=False,
)
def _disk_response_ms(m: Measurement) -> Value:
    return _spent_ms(m, _requests(m)) if _busy(m) else {}


@metric(
    "simulated ms",
    "sum of the response times of all disk requests, divided by the successful transactions. Requests that "
    "overlap, and requests for which no process waits, count in full",
    "disk_queue x clock_ns / TX_END markers (good)",
    of_caches=False,
)
def _disk_ms_per_transaction(m: Measurement) -> Value:
    return _spent_ms(m, m.region.total("transactions", outcome="good")) if _busy(m) else {}


@metric(
    "share",
    "share of the idle processor time during which a task that last ran on the idle processor waits for a disk",
    "cpu_ns.iowait / (cpu_ns.iowait + cpu_ns.idle)",
    Rows("kernel", PERCENT, "waiting for a disk, share of idle processor time", DISKS),
    of_caches=False,
)
def _iowait_share(m: Measurement) -> Value:
    if not _busy(m):
        return {}
    waiting = m.region.guest.get("cpu_ns.iowait", 0)
    return ratio(waiting, waiting + m.region.guest.get("cpu_ns.idle", 0))
