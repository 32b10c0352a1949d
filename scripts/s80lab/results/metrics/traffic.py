# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of what the clients send and receive, as they count it: what is in the connections, inside TLS."""

from __future__ import annotations

from s80lab.results.metrics.registry import Measurement, Value, metric, ratio

_BYTES = {"sent": "bytes_out", "received": "bytes_in"}


@metric(
    "payload_mbit",
    "Mbit per modelled second",
    "what clients sent and received in the transactions that ended in the region, without what TLS, TCP and IP add",
    "8 x bytes_out, bytes_in or both / region length",
    of_load=True,
)
def _payload_mbit(m: Measurement) -> Value:
    region = m.load["region"]
    seconds = (region["end_ns"] - region["begin_ns"]) / 1e9
    types = m.load["transactions"].values()
    mbit = {name: 8e-6 * sum(int(one[key]) for one in types) for name, key in _BYTES.items()}
    return {name: ratio(amount, seconds) for name, amount in {**mbit, "all": sum(mbit.values())}.items()}
