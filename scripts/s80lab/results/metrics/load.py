# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the load: utilisation, throughput, response times, and the operational laws that connect them; data that
the clients send and receive, counted inside TLS; the mail transport's queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Any

from s80lab.base.format import ONE, PERCENT, THREE, TWO, WHOLE
from s80lab.base.histogram import quantile
from s80lab.results.metrics.registry import Measurement, Rows, Value, metric, ratio

BUSY_THRESHOLD = 0.5
MAIL_QUEUE = "envelopes in the mail transport's queue"


def _busy_shares(m: Measurement) -> list[float]:
    return [float(busy) / m.core_cycles for busy in m.region["busy_cycles"]]


def _completed(load: Mapping[str, Any]) -> int:
    """The number of good transactions; failed ones are counted separately."""
    return sum(int(entry["count"]) for entry in load["transactions"].values())


def client_cycles(load: Mapping[str, Any]) -> float:
    """Mean number of closed-loop cycles (think time plus response time) per client. load: the load generator's
    result."""
    return _completed(load) / int(load["clients"])


def load_seconds(m: Measurement) -> float:
    """Length of the region in seconds of the load generator's clock."""
    region = m.load["region"]
    return int(region["end_ns"] - region["begin_ns"]) / 1e9


def _completed_per_s(m: Measurement) -> float:
    """Transactions per simulated second, from the load generator's counts and clock."""
    return _completed(m.load) / load_seconds(m)


@metric(
    "simulated s",
    "length of the measured region in simulated time",
    "clock_ns",
    Rows("load", TWO, "simulated seconds"),
    of_caches=False,
)
def _simulated_s(m: Measurement) -> Value:
    return m.seconds


@metric(
    "million instructions",
    "instructions that all cores executed in the measured region",
    "instructions",
    Rows("load", WHOLE, "million instructions"),
    of_caches=False,
)
def _instructions_m(m: Measurement) -> Value:
    return m.region.instructions / 1e6


@metric(
    "share",
    "utilisation of each core: busy cycles of the core, as a share of the cycles of all its threads",
    "busy_cycles / (threads x clock_ns x clock_hz), by core",
    Rows("load", PERCENT, {"00": "utilisation of core 0"}),
)
def _busy_share(m: Measurement) -> Value:
    return {f"{core:02d}": share for core, share in enumerate(_busy_shares(m))}


@metric(
    "share",
    "utilisation of the machine: busy cycles of all cores, as a share of all their cycles",
    "busy_cycles / (cores x threads x clock_ns x clock_hz)",
    Rows("load", PERCENT, "utilisation of all cores"),
)
def _utilisation(m: Measurement) -> Value:
    return ratio(m.region.total("busy_cycles"), m.capacity_cycles)


@metric(
    "share",
    "utilisation of the server's cores, that is without the cores that the machine file reserves for the load "
    "generator",
    "mean of busy_share over the server's cores",
    Rows("load", PERCENT, "utilisation of the server's cores"),
)
def _server_utilisation(m: Measurement) -> Value:
    shares = _busy_shares(m)[m.server_cores]
    return ratio(sum(shares), len(shares))


@metric(
    "cores",
    "number of cores that were busy for more than half of the measured region",
    "number of cores with busy_share > 0.5",
    Rows("load", ONE, "cores busy for more than half of the time"),
)
def _busy_cores(m: Measurement) -> Value:
    return sum(share > BUSY_THRESHOLD for share in _busy_shares(m))


@metric(
    "transactions per simulated second",
    "successful transactions that end in the measured region, per simulated second",
    "sum of counts / region length, from the result of the load generator; in gem5 TX_END markers (good) / clock_ns",
    Rows("load", ONE, "throughput, transactions per second"),
)
def _throughput(m: Measurement) -> Value:
    if m.result is not None:
        return _completed_per_s(m)
    # A replay's clients did not feel its timing. gem5's do, but the region ends before they write their result.
    feels = m.region.header.engine == "gem5"
    return ratio(m.region.total("transactions", outcome="good"), m.seconds) if feels else None


@metric(
    "simulated ms",
    "mean response time of all successful transactions",
    "response_ns_mean",
    Rows("load", ONE, "mean response time, ms"),
    of_load=True,
)
def _response_ms(m: Measurement) -> Value:
    return float(m.load["totals"]["response_ns_mean"]) / 1e6


@metric(
    "simulated ms",
    "95th percentile of the response times of all successful transactions (upper bound of the histogram bucket)",
    "95th percentile of the sum of the histograms of all transaction types",
    Rows("load", ONE, "95th percentile of the response time, ms"),
    of_load=True,
)
def _response_p95_ms(m: Measurement) -> Value:
    buckets: Counter[int] = Counter()
    for entry in m.load["transactions"].values():
        buckets.update({int(upper): int(count) for upper, count in entry["histogram"]})
    return quantile(buckets, 0.95) / 1e6


@metric(
    "simulated ms",
    "mean of the think times that end in the measured region",
    "think_ns_mean",
    Rows("load", ONE, "mean think time, ms"),
    of_caches=False,
    of_load=True,
)
def _think_ms(m: Measurement) -> Value:
    return float(m.load["totals"]["think_ns_mean"]) / 1e6


@metric(
    "million instructions per transaction",
    "instructions of all cores, divided by the successful transactions",
    "instructions / TX_END markers (good)",
    Rows("load", ONE, "million instructions per transaction"),
    of_caches=False,
)
def _instructions_per_transaction(m: Measurement) -> Value:
    return ratio(m.region.instructions / 1e6, m.region.total("transactions", outcome="good"))


@metric(
    "ratio",
    "response-time law: (mean number of clients in service + throughput x think time) / clients. It is 1 if "
    "the load generator and the model count the same transactions on the same clock",
    "(in_flight_mean + throughput x think_ns_mean) / clients; if no think time ended in the region, think_ms "
    "of the job replaces think_ns_mean",
    Rows("load", THREE, "response-time law (1: holds)"),
    of_load=True,
)
def _interactive_law(m: Measurement) -> Value:
    return ratio(
        float(m.load["totals"]["in_flight_mean"]) + _completed_per_s(m) * _think_ns(m) / 1e9, m.load["clients"]
    )


def _think_ns(m: Measurement) -> float:
    return float(m.load["totals"]["think_ns_mean"]) or float(m.load["think_ms"]) * 1e6


@metric(
    "ratio",
    "expected random deviation of interactive_law from 1, as a standard deviation. The cause: the ends of the "
    "measured region cut off think times. It is computed for exponential think times; with constant think "
    "times, the deviation is a third of the value",
    "sqrt(2 x (clients - in_flight_mean)) x think_ns_mean / region length / clients",
    Rows("load", THREE, "response-time law: standard deviation by chance"),
    of_load=True,
)
def _interactive_law_chance(m: Measurement) -> Value:
    thinking = max(m.load["clients"] - float(m.load["totals"]["in_flight_mean"]), 0.0)
    return ratio(sqrt(2 * thinking) * _think_ns(m) / 1e9 / load_seconds(m), m.load["clients"])


@metric(
    "ratio",
    "Little's law: throughput x response time / mean number of clients in service. It differs slightly from 1 "
    "because the ends of the measured region cut off transactions",
    "throughput x response_ns_mean / in_flight_mean",
    Rows("load", THREE, "Little's law, completed transactions (1: holds)"),
    of_load=True,
)
def _little_law(m: Measurement) -> Value:
    totals = m.load["totals"]
    return ratio(_completed_per_s(m) * float(totals["response_ns_mean"]) / 1e9, float(totals["in_flight_mean"]))


@metric(
    "closed-loop cycles per client",
    "closed-loop cycles (think time plus response time) per client in the measured region, which equals the "
    "successful transactions per client",
    "sum of counts / clients",
    of_caches=False,
    of_load=True,
)
def _client_cycles(m: Measurement) -> Value:
    return client_cycles(m.load)


@metric(
    "ratio",
    "utilisation law: throughput x busy time per transaction / busy time per second. It is 1 if the load "
    "generator counts as many transactions as the markers",
    "throughput x (busy_cycles / TX_END markers) / (busy_cycles / clock_ns)",
    Rows("load", THREE, "utilisation law (1: holds)"),
    of_load=True,
)
def _utilisation_law(m: Measurement) -> Value:
    markers = m.region.total("transactions", outcome="good")
    return ratio(_completed_per_s(m) * m.seconds, markers)


@metric(
    "share",
    "executed transactions of each type, as a share of all executed transactions",
    "count of the type / sum of counts",
    of_caches=False,
    of_load=True,
)
def _executed_mix(m: Measurement) -> Value:
    total = _completed(m.load)
    return {name: ratio(int(entry["count"]), total) for name, entry in m.load["transactions"].items()}


_BYTES = {"sent": "bytes_out", "received": "bytes_in"}


@metric(
    "Mbit per simulated second",
    "data that clients sent and received in the transactions that end in the measured region, per simulated "
    "second, without the overhead of TLS, TCP and IP",
    "8 x bytes_out, bytes_in or their sum / region length / 10^6",
    Rows(
        "load",
        ONE,
        {
            "sent": "sent by the clients, Mbit/s",
            "received": "received by the clients, Mbit/s",
            "all": "sent and received by the clients, Mbit/s",
        },
    ),
    of_load=True,
)
def _payload_mbit(m: Measurement) -> Value:
    amounts = {name: _mbit(m, key) for name, key in _BYTES.items()}
    return {name: ratio(amount, load_seconds(m)) for name, amount in {**amounts, "all": sum(amounts.values())}.items()}


@metric(
    "Mbit per simulated second",
    "bodies of files and pages that the clients received in the transactions that end in the measured region, "
    "per simulated second; null for protocols without HTTP bodies",
    "8 x sum of body_bytes / region length / 10^6, from the result of the load generator",
    Rows("load", ONE, "documents and pages received, Mbit/s"),
    of_load=True,
)
def _body_mbit(m: Measurement) -> Value:
    if not all("body_bytes" in one for one in m.load["transactions"].values()):
        return None
    return ratio(_mbit(m, "body_bytes"), load_seconds(m))


def _mbit(m: Measurement, key: str) -> float:
    """Data rate in Mbit per simulated second, summed over all transaction types."""
    return 8e-6 * sum(int(one[key]) for one in m.load["transactions"].values())


@metric(
    "envelopes",
    "envelopes (messages x recipients) that the mail transfer agent has accepted and not yet delivered: mean "
    "over the measured region (mean), at its start (begin) and at its end (end). accepted: envelopes that it "
    "accepted in the region",
    "mail_queue.mean, .begin, .end, .accepted_in_region, from the result of the load generator",
    Rows("mail", TWO, {"mean": "mean over the region"}, MAIL_QUEUE),
    Rows(
        "mail",
        WHOLE,
        {
            "begin": "at the start of the region",
            "end": "at the end of the region",
            "accepted": "accepted in the region",
        },
        MAIL_QUEUE,
    ),
    of_load=True,
)
def _mail_queue(m: Measurement) -> Value:
    """Absent for servers without a mail transport and for older runs. The unit is OpenSMTPD's envelope, a message to
    one recipient. It is in the queue from the acceptance of the message until its delivery, or until the transport
    gives up."""
    queue = m.load.get("mail_queue")
    if queue is None:
        return {}
    accepted = {"accepted": queue["accepted_in_region"]} if "accepted_in_region" in queue else {}
    return {at: queue[at] for at in ("mean", "begin", "end")} | accepted


@metric(
    "deliveries",
    "deliveries that the mail transfer agent postponed or refused, in the whole run including the warm-up",
    "mail_queue.put_off + mail_queue.refused",
    Rows("mail", WHOLE, "deliveries postponed or refused, warm-up included", MAIL_QUEUE),
    of_caches=False,
    of_load=True,
)
def _mail_put_off(m: Measurement) -> Value:
    queue = m.load.get("mail_queue")
    return {} if queue is None else int(queue["put_off"]) + int(queue["refused"])
