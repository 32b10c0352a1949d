# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the guest's disks, on counters written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.results.lines import Line, change, change_from

from s80lab.results.metrics.derive import stats
from s80lab.results.snapshots import Snapshots

# Of two disks over the measured region: 60 + 20 of 100 ticks busy with 120 requests, 2.5 of them there on average.
COUNTED = {
    "jiffies": 100,
    "disk.reads": 90,
    "disk.writes": 30,
    "disk.sectors_read": 90 * 64,
    "disk.sectors_written": 30 * 8,
    "disk_busy_jiffies.nullb0": 60,
    "disk_busy_jiffies.nullb1": 20,
    "cpu_ns.idle": 300,
    "cpu_ns.iowait": 100,
}


def metrics(run_dir: Path) -> dict[str, float]:
    load = json.loads((run_dir / "transactions.json").read_text())
    found: dict[str, float] = stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None)["metrics"]
    return found


def count_disks(run_dir: Path) -> None:
    """The counters begin with the run and stand still but for the measured region."""
    region = Snapshots.read(run_dir / "snapshots.jsonl").region()
    guest_ns = region.clock_ns
    ended = {**COUNTED, "disk_ns.reads": 2 * guest_ns, "disk_ns.writes": guest_ns // 2}
    marks = [json.loads(line).get("mark") for line in (run_dir / "snapshots.jsonl").read_text().splitlines()]

    def begin(line: Line) -> None:
        line["guest"] |= dict.fromkeys(ended, 7)

    def end(line: Line) -> None:
        line["guest"] |= {name: 7 + value for name, value in ended.items()}

    change_from(run_dir, 2, begin)
    change(run_dir, marks.index("measure_end") + 1, end)


def test_disk_metrics_satisfy_the_operational_laws(run_dir: Path) -> None:
    count_disks(run_dir)
    region = Snapshots.read(run_dir / "snapshots.jsonl").region()
    found, seconds = metrics(run_dir), region.clock_ns / 1e9
    assert [found[f"disk_utilisation.{name}"] for name in ("all", "nullb0", "nullb1")] == [0.4, 0.6, 0.2]
    assert found["disk_rate.reads"] == pytest.approx(90 / seconds)
    # Utilisation law: both disks' utilisation together is the rate by the service time.
    rate = found["disk_rate.reads"] + found["disk_rate.writes"]
    assert rate * found["disk_service_ms"] / 1e3 == pytest.approx(0.6 + 0.2)
    assert found["disk_queue"] == pytest.approx(2.5, rel=1e-3)
    assert rate * found["disk_response_ms"] / 1e3 == pytest.approx(2.5, rel=1e-3)
    done = region.total("transactions", outcome="good")
    assert found["disk_ms_per_transaction"] == pytest.approx(found["disk_response_ms"] * 120 / done)
    assert found["disk_per_transaction.kib_read"] == pytest.approx(90 * 32 / done)
    assert found["iowait_share"] == 0.25
    assert not [name for name in found if name.startswith("guest_rate.disk")]


def test_disk_metrics_are_absent_without_disks(run_dir: Path) -> None:
    assert not [name for name in metrics(run_dir) if name.startswith(("disk_", "iowait"))]
