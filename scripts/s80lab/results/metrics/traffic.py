# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the data that the clients send and receive in their connections, counted inside TLS."""

from __future__ import annotations

from s80lab.results.metrics.load import load_seconds
from s80lab.results.metrics.registry import Measurement, Value, metric, ratio

_BYTES = {"sent": "bytes_out", "received": "bytes_in"}


@metric(
    "payload_mbit",
    "Mbit per simulated second",
    "data that clients sent and received in the transactions that end in the measured region, per simulated "
    "second, without the overhead of TLS, TCP and IP",
    "8 x bytes_out, bytes_in or their sum / region length / 10^6",
    of_load=True,
)
def _payload_mbit(m: Measurement) -> Value:
    amounts = {name: _mbit(m, key) for name, key in _BYTES.items()}
    return {name: ratio(amount, load_seconds(m)) for name, amount in {**amounts, "all": sum(amounts.values())}.items()}


@metric(
    "body_mbit",
    "Mbit per simulated second",
    "bodies of files and pages that the clients received in the transactions that end in the measured region, "
    "per simulated second; null for protocols without HTTP bodies",
    "8 x sum of body_bytes / region length / 10^6, from the result of the load generator",
    of_load=True,
)
def _body_mbit(m: Measurement) -> Value:
    if not all("body_bytes" in one for one in m.load["transactions"].values()):
        return None
    return ratio(_mbit(m, "body_bytes"), load_seconds(m))


def _mbit(m: Measurement, key: str) -> float:
    """Data rate in Mbit per simulated second, summed over all transaction types."""
    return 8e-6 * sum(int(one[key]) for one in m.load["transactions"].values())
