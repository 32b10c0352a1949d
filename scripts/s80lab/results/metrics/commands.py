# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the commands that client scripts send, by protocol, command and message size. Only loads with scripts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from s80lab.base.format import ONE, THREE, TWO
from s80lab.base.vocabulary import texts
from s80lab.results.metrics.cycles import cycles, has_dimension
from s80lab.results.metrics.registry import Measurement, Rows, Value, metric, ratio, within

PROTOCOLS = {"imap": "IMAP", "pop3": "POP3", "smtp": "SMTP"}
TIMES = ("mean", "p50", "p90", "p95", "p99")


def label(command: Mapping[str, Any]) -> str:
    """The label of a command: protocol, name and message size, as in `imap.fetch.1062`."""
    words = (command["protocol"], str(command["command"]).replace(" ", "_"), *_bytes(command))
    return ".".join(words)


def _bytes(command: Mapping[str, Any]) -> tuple[str, ...]:
    return (str(command["bytes"]),) if "bytes" in command else ()


def _each(m: Measurement, value: Callable[[Mapping[str, Any]], Value]) -> dict[str, Value]:
    """One value per command of the scripts; empty for a replay and for a load without scripts."""
    return {label(command): value(command) for command in (m.result or {}).get("commands", ())}


@metric(
    "commands per simulated second",
    "commands of client scripts that the server answered, per simulated second, by protocol, command and (for "
    "commands about one message) message size",
    "count of the command / clock_ns",
)
def _command_rate(m: Measurement) -> Value:
    return _each(m, lambda command: ratio(int(command["count"]), m.seconds))


@metric(
    "simulated ms",
    "response time of the commands of client scripts: from sending the command to the end of its reply; mean "
    "and percentiles, by protocol, command and message size",
    "latency_ns of the command",
)
def _command_ms(m: Measurement) -> Value:
    return {time: _each(m, partial(_ms, time)) for time in TIMES}


def _ms(time: str, command: Mapping[str, Any]) -> Value:
    return int(command["latency_ns"][time]) / 1e6


def _requests(m: Measurement) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The commands of each protocol, without the opening of connections."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for command in (m.result or {}).get("commands", ()):
        if command["command"] != "connect":
            found[str(command["protocol"])].append(command)
    return dict(found)


def _count(commands: Sequence[Mapping[str, Any]]) -> int:
    return sum(int(command["count"]) for command in commands)


@metric(
    "commands per simulated second",
    "commands of client scripts that the server answered, per simulated second, by protocol; opening a "
    "connection does not count",
    "sum of counts / clock_ns",
    Rows("requests", ONE, PROTOCOLS, "requests per second"),
)
def _request_rate(m: Measurement) -> Value:
    return {protocol: ratio(_count(commands), m.seconds) for protocol, commands in _requests(m).items()}


@metric(
    "commands per simulated second",
    "commands of client scripts that the server answered, per client and simulated second, by protocol; "
    "opening a connection does not count",
    "request_rate / clients",
)
def _request_rate_per_client(m: Measurement) -> Value:
    return {
        protocol: ratio(_count(commands), m.seconds * int(m.load["clients"]))
        for protocol, commands in _requests(m).items()
    }


@metric(
    "simulated ms",
    "mean response time of the commands of client scripts, from sending the command to the end of its reply, "
    "by protocol; opening a connection does not count",
    "sum of count x latency_ns.mean / sum of counts",
    Rows("requests", TWO, PROTOCOLS, "mean response time, ms"),
)
def _request_ms(m: Measurement) -> Value:
    return {protocol: _mean_ms(commands) for protocol, commands in _requests(m).items()}


def _mean_ms(commands: Sequence[Mapping[str, Any]]) -> Value:
    spent = sum(int(command["count"]) * int(command["latency_ns"]["mean"]) for command in commands)
    return ratio(spent / 1e6, _count(commands))


@metric(
    "share",
    "passes of an open script that found no free client when they arrived, as a share of all passes that "
    "arrived; by script",
    "arrivals.queued / arrivals.count",
    of_caches=False,
)
def _queued_share(m: Measurement) -> Value:
    arrivals: Mapping[str, Mapping[str, int]] = (m.result or {}).get("arrivals", {})
    return {name: ratio(int(one["queued"]), int(one["count"])) for name, one in arrivals.items()}


@metric(
    "ms of processor time",
    "busy time of each process class, divided by the answered commands of a protocol. The busy time also "
    "includes the class's work for other protocols",
    "busy_cycles of the class / clock_hz / sum of counts",
    Rows("requests", THREE, within("imap", texts("class")), "processor time per IMAP request, ms"),
)
def _request_cpu_ms(m: Measurement) -> Value:
    classes = m.region.header.labels["class"] if has_dimension(m.region, "class") else ()
    return {
        protocol: {
            name: ratio(cycles(m.region, **{"class": name}) / m.region.header.clock_hz * 1e3, _count(commands))
            for name in classes
        }
        for protocol, commands in _requests(m).items()
    }
