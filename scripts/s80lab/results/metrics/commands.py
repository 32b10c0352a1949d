# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the commands that scripts send, by protocol, name and size of message; none of other loads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from s80lab.results.metrics.registry import Measurement, Value, metric, ratio

TIMES = ("mean", "p50", "p90", "p95", "p99")


def label(command: Mapping[str, Any]) -> str:
    """`imap.fetch.1062`."""
    words = (command["protocol"], str(command["command"]).replace(" ", "_"), *_bytes(command))
    return ".".join(words)


def _bytes(command: Mapping[str, Any]) -> tuple[str, ...]:
    return (str(command["bytes"]),) if "bytes" in command else ()


def _each(m: Measurement, value: Callable[[Mapping[str, Any]], Value]) -> dict[str, Value]:
    """Nothing of a replay, nor of a load without scripts."""
    return {label(command): value(command) for command in (m.result or {}).get("commands", ())}


@metric(
    "command_rate",
    "per modelled second",
    "commands of scripts that were answered, by protocol, name and size of the message where it is about one",
    "count of the command / clock_ns",
)
def _command_rate(m: Measurement) -> Value:
    return _each(m, lambda command: ratio(int(command["count"]), m.seconds))


@metric(
    "command_ms",
    "ms",
    "modelled time from a command of a script to the end of its answer: mean and percentiles",
    "latency_ns of the command",
)
def _command_ms(m: Measurement) -> Value:
    return {time: _each(m, partial(_ms, time)) for time in TIMES}


def _ms(time: str, command: Mapping[str, Any]) -> Value:
    return int(command["latency_ns"][time]) / 1e6
