# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of time slices and epochs, on counts written by hand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from s80lab.base.vocabulary import Statistic
from s80lab.results.metrics.registry import REGISTRY, Measurement, Value
from s80lab.results.snapshots import Delta, Header, Snapshot

LENGTHS = (1, 4096, 8192, 131072)
LABELS = {"core": ("0", "1"), "slice_length": tuple(map(str, LENGTHS))}


def value(metric: str, counts: Mapping[str, list[int]]) -> Value:
    """A metric of a region with these counts: four by length of slice, two by core."""
    statistics = {
        name: Statistic(name, "", ("slice_length" if len(count) == 4 else "core",), "", False)
        for name, count in counts.items()
    }
    header = Header(2, 128, 1, 1.0, LABELS, statistics)
    end = {name: np.array(count) for name, count in counts.items()}
    begin = {name: np.zeros_like(count) for name, count in end.items()}
    region = Delta(header, Snapshot("", 0, 0, 0, 0, begin), Snapshot("", 1, 0, 0, 0, end))
    return REGISTRY[metric].compute(Measurement(region, None))


def test_slice_length_median_is_by_instructions() -> None:
    assert value("slice_length", {"slice_instructions": [10, 50, 40, 0]}) == {"median": 4096, "longest": 8192}
    assert value("slice_length", {"slice_instructions": [10, 39, 50, 1]}) == {"median": 8192, "longest": 131072}


def test_slice_over_counts_slices_at_least_that_long() -> None:
    shares = {"8192": 0.4, "32768": 0.1, "131072": 0.1}
    assert value("slice_over", {"slice_instructions": [10, 50, 30, 10]}) == shares


def test_slices_are_counted_in_millions() -> None:
    assert value("slices_m", {"slices": [1_000_000, 0, 500_000, 0]}) == 1.5


def test_epoch_error_is_a_share_of_the_epochs_cycles() -> None:
    assert value("epoch_error", {"epoch_error_cycles": [300, 100], "epoch_cycles": [20_000, 20_000]}) == 0.01


def test_order_waits_are_per_1000_instructions() -> None:
    assert value("order_wait_pki", {"order_waits": [3, 1], "instructions": [1000, 7000]}) == pytest.approx(0.5)


def test_wait_error_is_a_share_of_busy_cycles() -> None:
    assert value("wait_error", {"wait_error_cycles": [300, 100], "busy_cycles": [9_000, 1_000]}) == pytest.approx(0.04)


def test_engine_without_slices_has_no_value() -> None:
    assert value("slice_length", {}) == {"median": None, "longest": None}
    assert value("slice_over", {}) == {"8192": None, "32768": None, "131072": None}
    assert [value(name, {}) for name in ("slices_m", "epoch_error", "order_wait_pki", "wait_error")] == [None] * 4
