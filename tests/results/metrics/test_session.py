# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the paper's population: those of the whole machine, of the class's counts alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.results.lines import change

from s80lab.results.metrics.derive import stats
from s80lab.results.snapshots import Snapshots


def metrics(run_dir: Path, label: str) -> dict[str, float]:
    """Of the run whose first class is called `label`."""
    change(run_dir, 1, lambda line: line["dims"]["class"].__setitem__(0, label))
    load = json.loads((run_dir / "transactions.json").read_text())
    found: dict[str, float] = stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None)["metrics"]
    return found


def test_counts_are_of_the_class_alone(run_dir: Path) -> None:
    found = metrics(run_dir, "session")
    region = Snapshots.read(run_dir / "snapshots.jsonl").region()
    of_class = {"class": "session"}
    misses = region.total("miss_source", **of_class)
    from_m = region.total("miss_source", **of_class, kind="store", source="M")
    assert 0 < misses < region.total("miss_source")
    assert found["session.store_from_m_share.all"] == pytest.approx(from_m / misses)
    stalls = {
        kind: sum(region.total("stall_cycles", **of_class, kind=kind, service=by) for by in ("memory", "cache"))
        for kind in ("ifetch", "load", "store", "walk")
    }
    assert found["session.l2_stall.walk"] == pytest.approx(stalls["walk"] / sum(stalls.values()))
    assert found["session.store_to_load_stall"] == pytest.approx(stalls["store"] / stalls["load"])
    assert found["session.store_to_load_stall"] != found["store_to_load_stall"]


def test_engines_that_do_not_tell_the_class_have_none(run_dir: Path) -> None:
    assert metrics(run_dir, "servers")["session"] is None
