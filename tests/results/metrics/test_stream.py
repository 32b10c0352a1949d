# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of streams: there with them, and nothing of them without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from s80lab.results.metrics.derive import stats
from s80lab.results.snapshots import Snapshots

TIMES = {"mean": 2_000_000, "p50": 1_500_000, "p90": 4_000_000, "p95": 5_000_000, "p99": 9_000_000, "max": 9_500_000}
STREAMS = {
    "packets": 400,
    "bytes": 300_000,
    "lost": 2,
    "late": 1,
    "transit_ns": TIMES,
    "transit_histogram": [],
    "jitter_ns": TIMES | {"p95": 3_000_000},
    "jitter_histogram": [],
}


def metrics(run_dir: Path, load: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None)["metrics"]
    return {name: value for name, value in found.items() if name.startswith("stream_")}


def test_streams_are_told_by_what_came(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    found = metrics(run_dir, load | {"streams": STREAMS})
    seconds = (load["region"]["end_ns"] - load["region"]["begin_ns"]) / 1e9
    assert found["stream_mbit"] * seconds == pytest.approx(2.4)
    packets = {name: found[f"stream_packets.{name}"] for name in ("received", "lost", "late")}
    assert packets == {"received": 400, "lost": 2, "late": 1}
    assert (found["stream_jitter_ms.mean"], found["stream_jitter_ms.p95"], found["stream_transit_ms.p95"]) == (2, 3, 5)


def test_other_loads_and_replays_have_no_value_of_them(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    assert metrics(run_dir, load) == {}
    assert all(value is None for value in metrics(run_dir, None).values())
