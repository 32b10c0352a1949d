# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the probes: the work that was done over the probe's processor time; nothing of other loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from s80lab.results.metrics.derive import stats
from s80lab.results.snapshots import Snapshots


def metrics(run_dir: Path, load: dict[str, Any] | None) -> dict[str, Any]:
    found: dict[str, Any] = stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None)["metrics"]
    return found


def test_work_is_set_against_processor_time(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    one = next(iter(load["transactions"].values()))
    types = {name: one | {"count": count} for name, count in (("COPY", 3), ("PASS", 4), ("KEEP", 5))}
    found = metrics(run_dir, load | {"batch": 1000, "transactions": types})
    seconds = found["class_processors.session"] * Snapshots.read(run_dir / "snapshots.jsonl").region().clock_ns / 1e9
    assert found["copy_mb"] * seconds == pytest.approx(3 * 1000 * 4 / 1e6)
    assert found["token_ns"] * 9 * 1000 == pytest.approx(seconds * 1e9)


def test_miss_ratios_are_of_the_sessions_own_accesses(run_dir: Path) -> None:
    region = Snapshots.read(run_dir / "snapshots.jsonl").region()
    own = {"class": "session", "privilege": "user"}
    accesses = sum(region.total("accesses", kind=kind, **own) for kind in ("load", "store"))
    found = metrics(run_dir, None)
    for level in ("l1", "l2"):
        missed = sum(region.total(f"{level}_misses", kind=kind, **own) for kind in ("load", "store"))
        assert 0 < missed <= accesses
        assert found[f"data_miss_ratio.{level}"] == pytest.approx(missed / accesses)


def test_other_loads_and_replays_have_none_of_the_work(run_dir: Path) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    for result in (load, None):
        found = metrics(run_dir, result)
        assert found["copy_mb"] is found["token_ns"] is None
