# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of media streams (workloads/loadgen/rtp), measured at the clients. Absent for other loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from s80lab.base.format import TWO, WHOLE
from s80lab.results.metrics.load import load_seconds
from s80lab.results.metrics.registry import Measurement, Rows, Value, metric, ratio

SHOWN_TIMES = {"mean": "mean", "p50": "median", "p95": "95th percentile", "p99": "99th percentile"}
TIMES = ("mean", "p50", "p90", "p95", "p99")


def _of_streams(compute: Callable[[Mapping[str, Any], float], Value]) -> Callable[[Measurement], Value]:
    """A metric computed from the load generator's counts of streams and the length of the region in seconds; empty for
    loads without streams."""

    @wraps(compute)
    def of_load(m: Measurement) -> Value:
        if "streams" not in m.load:
            return {}
        return compute(m.load["streams"], load_seconds(m))

    return of_load


@metric(
    "Mbit per simulated second",
    "media data that the clients received per simulated second, without packet headers",
    "8 x bytes / region length / 10^6, from the result of the load generator",
    Rows("streams", TWO, "media received by the clients, Mbit/s"),
    of_load=True,
)
@_of_streams
def _stream_mbit(streams: Mapping[str, Any], seconds: float) -> Value:
    return ratio(8 * int(streams["bytes"]) / 1e6, seconds)


@metric(
    "packets",
    "media packets that the clients received (received), that did not arrive (lost), and that arrived too late "
    "for a client's buffer of late_ms (late; late_ms is a key of the profile)",
    "packets, lost, late",
    Rows("streams", WHOLE, {"received": "received", "lost": "lost", "late": "late"}, "packets"),
    of_load=True,
)
@_of_streams
def _stream_packets(streams: Mapping[str, Any], seconds: float) -> Value:
    return {"received": int(streams["packets"]), "lost": int(streams["lost"]), "late": int(streams["late"])}


@metric(
    "simulated ms",
    "interarrival jitter (RFC 3550, section 6.4.1): mean and percentiles of the clients' jitter estimates at "
    "the end of each stream",
    "jitter_ns",
    Rows("streams", TWO, SHOWN_TIMES, "jitter, ms"),
    of_load=True,
)
@_of_streams
def _stream_jitter_ms(streams: Mapping[str, Any], seconds: float) -> Value:
    return _milliseconds(streams["jitter_ns"])


@metric(
    "simulated ms",
    "absolute difference between the transit times of two consecutive packets of a stream (D in RFC 3550), "
    "from which the jitter estimate is smoothed; mean and percentiles",
    "transit_ns",
    Rows("streams", TWO, SHOWN_TIMES, "transit time difference of consecutive packets, ms"),
    of_load=True,
)
@_of_streams
def _stream_transit_ms(streams: Mapping[str, Any], seconds: float) -> Value:
    return _milliseconds(streams["transit_ns"])


def _milliseconds(times: Mapping[str, Any]) -> Value:
    return {time: int(times[time]) / 1e6 for time in TIMES}
