# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the load: utilisation, throughput, response times, and the operational laws that connect them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Any

from s80lab.base.histogram import quantile
from s80lab.results.metrics.registry import Measurement, Value, metric, ratio

BUSY_THRESHOLD = 0.5


def _busy_shares(m: Measurement) -> list[float]:
    return [float(busy) / m.core_cycles for busy in m.region["busy_cycles"]]


def _completed(load: Mapping[str, Any]) -> int:
    """Good transactions; failed ones are counted apart."""
    return sum(int(entry["count"]) for entry in load["transactions"].values())


def client_cycles(load: Mapping[str, Any]) -> float:
    """Mean number of closed-loop cycles (think time plus response time) per client. load: the load generator's
    result."""
    return _completed(load) / int(load["clients"])


def load_seconds(m: Measurement) -> float:
    """Length of the region in seconds of the load generator's clock."""
    region = m.load["region"]
    return int(region["end_ns"] - region["begin_ns"]) / 1e9


def _throughput(m: Measurement) -> float:
    """Transactions per simulated second, from the load generator's counts and clock."""
    return _completed(m.load) / load_seconds(m)


@metric("modelled_s", "s", "length of the measured region in simulated time", "clock_ns", of_caches=False)
def _modelled_s(m: Measurement) -> Value:
    return m.seconds


@metric("instructions_m", "million", "instructions in the measured region, all cores", "instructions", of_caches=False)
def _instructions_m(m: Measurement) -> Value:
    return m.region.instructions / 1e6


@metric(
    "busy_share",
    "share",
    "utilisation of each core: its busy cycles, as a share of the cycles of all its threads",
    "busy_cycles / (threads x clock_ns x clock_hz), by core",
)
def _busy_share(m: Measurement) -> Value:
    return {f"{core:02d}": share for core, share in enumerate(_busy_shares(m))}


@metric(
    "utilisation",
    "share",
    "utilisation of the machine: busy cycles, as a share of the cycles of all cores",
    "busy_cycles / (cores x threads x clock_ns x clock_hz)",
)
def _utilisation(m: Measurement) -> Value:
    return ratio(m.region.total("busy_cycles"), m.capacity_cycles)


@metric(
    "server_utilisation",
    "share",
    "utilisation of the server's cores; cores that the machine file reserves for the load generator are left out",
    "mean of busy_share over these cores",
)
def _server_utilisation(m: Measurement) -> Value:
    shares = _busy_shares(m)[m.server_cores]
    return ratio(sum(shares), len(shares))


@metric(
    "busy_cores",
    "cores",
    "number of cores that were busy for more than half of the region",
    "count of busy_share > 0.5",
)
def _busy_cores(m: Measurement) -> Value:
    return sum(share > BUSY_THRESHOLD for share in _busy_shares(m))


@metric(
    "throughput",
    "transactions per simulated second",
    "good transactions that end in the region, per simulated second",
    "sum of counts / region length, on the load generator's side; in gem5 TX_END markers (good) / clock_ns",
)
def _throughput_metric(m: Measurement) -> Value:
    if m.result is not None:
        return _throughput(m)
    # A replay's clients did not feel its timing. gem5's do, but the region ends before they write their result.
    feels = m.region.header.engine == "gem5"
    return ratio(m.region.total("transactions", outcome="good"), m.seconds) if feels else None


@metric(
    "response_ms",
    "ms",
    "mean response time of all good transactions, in simulated time",
    "response_ns_mean",
    of_load=True,
)
def _response_ms(m: Measurement) -> Value:
    return float(m.load["totals"]["response_ns_mean"]) / 1e6


@metric(
    "response_p95_ms",
    "ms",
    "95th percentile of the response times of all good transactions, in simulated time (upper bound of its bucket)",
    "of the histograms of all types together",
    of_load=True,
)
def _response_p95_ms(m: Measurement) -> Value:
    buckets: Counter[int] = Counter()
    for entry in m.load["transactions"].values():
        buckets.update({int(upper): int(count) for upper, count in entry["histogram"]})
    return quantile(buckets, 0.95) / 1e6


@metric(
    "think_ms",
    "ms",
    "mean of the think times that end in the region, in simulated time",
    "think_ns_mean",
    of_caches=False,
    of_load=True,
)
def _think_ms(m: Measurement) -> Value:
    return float(m.load["totals"]["think_ns_mean"]) / 1e6


@metric(
    "instructions_per_transaction",
    "million instructions",
    "instructions of all cores per good transaction",
    "instructions / TX_END markers (good)",
    of_caches=False,
)
def _instructions_per_transaction(m: Measurement) -> Value:
    return ratio(m.region.instructions / 1e6, m.region.total("transactions", outcome="good"))


@metric(
    "interactive_law",
    "ratio",
    "response-time law: (mean number of clients in service + throughput x think time) / clients. 1 if load generator "
    "and model count the same transactions on one clock",
    "(in_flight_mean + throughput x think_ns_mean, the job's think_ms where no think time ended) / clients",
    of_load=True,
)
def _interactive_law(m: Measurement) -> Value:
    return ratio(float(m.load["totals"]["in_flight_mean"]) + _throughput(m) * _think_ns(m) / 1e9, m.load["clients"])


def _think_ns(m: Measurement) -> float:
    return float(m.load["totals"]["think_ns_mean"]) or float(m.load["think_ms"]) * 1e6


@metric(
    "interactive_law_chance",
    "ratio",
    "standard deviation of interactive_law by chance: the ends of the region cut off the think times of the clients "
    "that think at that moment. Computed for exponential think times; for constant think times it is a third of this",
    "sqrt(2 x (clients - in_flight_mean)) x think_ns_mean / region length / clients",
    of_load=True,
)
def _interactive_law_chance(m: Measurement) -> Value:
    thinking = max(m.load["clients"] - float(m.load["totals"]["in_flight_mean"]), 0.0)
    return ratio(sqrt(2 * thinking) * _think_ns(m) / 1e9 / load_seconds(m), m.load["clients"])


@metric(
    "little_law",
    "ratio",
    "Little's law: throughput x response time / mean number of clients in service. It deviates from 1 by the "
    "transactions that the ends of the region cut off",
    "throughput x response_ns_mean / in_flight_mean",
    of_load=True,
)
def _little_law(m: Measurement) -> Value:
    totals = m.load["totals"]
    return ratio(_throughput(m) * float(totals["response_ns_mean"]) / 1e9, float(totals["in_flight_mean"]))


@metric(
    "client_cycles",
    "cycles",
    "closed-loop cycles (think time plus response time) per client in the region: good transactions per client",
    "sum of counts / clients",
    of_caches=False,
    of_load=True,
)
def _client_cycles(m: Measurement) -> Value:
    return client_cycles(m.load)


@metric(
    "utilisation_law",
    "ratio",
    "utilisation law: throughput x busy time per transaction / busy time per second. 1 if load generator and markers "
    "count the same transactions",
    "throughput x (busy_cycles / TX_END markers) / (busy_cycles / clock_ns)",
    of_load=True,
)
def _utilisation_law(m: Measurement) -> Value:
    markers = m.region.total("transactions", outcome="good")
    return ratio(_throughput(m) * m.seconds, markers)


@metric(
    "executed_mix",
    "share",
    "executed transactions by type, as shares of all",
    "count of the type / counts",
    of_caches=False,
    of_load=True,
)
def _executed_mix(m: Measurement) -> Value:
    total = _completed(m.load)
    return {name: ratio(int(entry["count"]), total) for name, entry in m.load["transactions"].items()}
