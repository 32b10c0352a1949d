# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of QEMU's turns, on counts written by hand."""

from __future__ import annotations

import numpy as np

from s80lab.results.metrics.registry import REGISTRY, Measurement, Value
from s80lab.results.snapshots import Delta, Header, Snapshot, Statistic

LENGTHS = (1, 4096, 8192, 131072)


def measured(instructions: list[int] | None) -> Measurement:
    """A region with so many instructions in turns of these lengths, one turn each; None: an engine without turns."""
    names = () if instructions is None else ("turns", "turn_instructions")
    statistics = {name: Statistic(name, "", ("turn_length",), "", False) for name in names}
    header = Header(1, 128, 1, 1.0, {"turn_length": tuple(map(str, LENGTHS))}, statistics)
    zero = np.zeros(len(LENGTHS), dtype=np.int64)
    end = {} if instructions is None else {"turns": zero + 1, "turn_instructions": np.array(instructions)}
    begin = dict.fromkeys(end, zero)
    return Measurement(Delta(header, Snapshot("", 0, 0, 0, 0, begin), Snapshot("", 1, 0, 0, 0, end)), None)


def value(name: str, instructions: list[int] | None) -> Value:
    return REGISTRY[name].compute(measured(instructions))


def test_the_median_is_by_instructions() -> None:
    assert value("turn_length", [10, 50, 40, 0]) == {"median": 4096, "longest": 8192}
    assert value("turn_length", [10, 39, 50, 1]) == {"median": 8192, "longest": 131072}


def test_shares_are_of_turns_at_least_that_long() -> None:
    assert value("turn_over", [10, 50, 30, 10]) == {"8192": 0.4, "32768": 0.1, "131072": 0.1}


def test_an_engine_without_turns_has_no_such_value() -> None:
    assert value("turn_length", None) == {"median": None, "longest": None}
    assert value("turns_m", None) is None
    assert value("turn_over", None) == {"8192": None, "32768": None, "131072": None}
