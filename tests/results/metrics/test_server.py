# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of the server's processors, with and without some that are the load generator's alone, and of documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.simulation import CORES

from s80lab.results.metrics.derive import stats
from s80lab.results.snapshots import Snapshots


def told(run_dir: Path, load_processors: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Metrics and region of the made run, as if so many of its four processors were the load generator's."""
    load = json.loads((run_dir / "transactions.json").read_text())
    wanted = {"load_processors": load_processors}
    found = stats(Snapshots.read(run_dir / "snapshots.jsonl"), load, {}, None, wanted)
    return found["metrics"], found["region"]


def test_load_generator_on_shared_processors_counts_with_the_server(run_dir: Path) -> None:
    metrics, region = told(run_dir)
    seconds = region["clock_ns"] / 1e9
    assert metrics["server_utilisation"] == pytest.approx(metrics["utilisation"])
    for level in ("l1", "l2"):
        misses = sum(region["totals"][f"{level}_misses"]["values"])
        assert metrics[f"misses_m_per_s.{level}"] == pytest.approx(misses / 1e6 / seconds)
        assert metrics[f"misses_per_transaction.{level}"] == pytest.approx(misses / 180)


@pytest.mark.parametrize("apart", [1, 3])
def test_load_generator_processors_are_left_out_of_server_metrics(apart: int, run_dir: Path) -> None:
    metrics, region = told(run_dir, apart)
    cores = range(CORES - apart)
    busy = [metrics[f"busy_share.{core:02d}"] for core in cores]
    assert metrics["server_utilisation"] == pytest.approx(sum(busy) / len(cores))
    for level in ("l1", "l2"):
        misses = sum(region["by_core"][f"{level}_misses"][core] for core in cores)
        assert 0 < misses < sum(region["by_core"][f"{level}_misses"])
        assert metrics[f"misses_per_transaction.{level}"] == pytest.approx(misses / 180)


def test_core_with_two_threads_has_half_the_utilisation(run_dir: Path) -> None:
    alone = told(run_dir)[0]
    path = run_dir / "snapshots.jsonl"
    header, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps(json.loads(header) | {"threads_per_core": 2}) + "\n" + rest)
    both = told(run_dir)[0]
    for name in ("utilisation", "server_utilisation", "busy_share.00", "loadgen_share.machine"):
        assert both[name] == pytest.approx(alone[name] / 2)
    assert both["loadgen_share.cycles"] == alone["loadgen_share.cycles"]


def test_documents_are_counted_where_the_load_has_them(run_dir: Path) -> None:
    assert told(run_dir)[0]["body_mbit"] is None, "of IMAP"
    path = run_dir / "transactions.json"
    load = json.loads(path.read_text())
    load["region"] = {"begin_ns": 1_000_000_000, "end_ns": 3_000_000_000}
    for entry in load["transactions"].values():
        entry["body_bytes"] = 0
    load["transactions"]["VIEW"]["body_bytes"] = 10_240 * 5_000
    path.write_text(json.dumps(load))
    assert told(run_dir)[0]["body_mbit"] == pytest.approx(10_240 * 8 * 5_000 / 1e6 / 2)
