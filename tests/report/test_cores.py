# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of cores: rates and shares of each core, and a core that differs from the others."""

from __future__ import annotations

import json
from pathlib import Path

from s80lab.analysis.groups import read_groups
from s80lab.report.cores import cores_tables
from s80lab.results.metrics.derive import render


def set_counts(run: Path, **counts: list[int]) -> None:
    path = run / "stats.json"
    stats = json.loads(path.read_text())
    stats["region"]["by_core"] |= counts
    stats["metrics"] |= {f"busy_share.{core:02d}": 0.5 for core in range(4)}
    path.write_text(render(stats))


def test_cores_have_rates_and_shares_over_the_seeds(runs: Path) -> None:
    supplied = [1, 1, 1, 1]
    set_counts(runs / "imape-1", instructions=[1000, 1000, 1000, 1000], l2_misses=[1, 1, 1, 1], interventions=supplied)
    set_counts(runs / "imape-2", instructions=[1000, 1000, 1000, 1000], l2_misses=[1, 1, 1, 7], interventions=supplied)
    (table,) = cores_tables(read_groups([runs / "imape-1", runs / "imape-2"]))
    cells = {row.label: [cell.text for cell in row.cells] for row in table.rows}
    assert cells["core 0"] == ["50.0%", "1.000", "17.5%", "25.0%"]
    assert cells["core 3"] == ["50.0%", "4.000", "47.5%", "25.0%"]
    assert "Core 3 has 2.7 times the misses of the median core." in table.note


def test_like_cores_are_not_named_and_a_run_without_counts_has_no_table(runs: Path) -> None:
    counts = {"instructions": [10] * 4, "l2_misses": [5, 6, 5, 6], "interventions": [0] * 4}
    set_counts(runs / "imape-1", **counts)
    (table,) = cores_tables(read_groups([runs / "imape-1"]))
    assert table.note.endswith("No core has twice the misses of the median core.")
    assert [row.cells[3].text for row in table.rows] == ["0.0%"] * 4
    stats = json.loads((runs / "imape-1" / "stats.json").read_text())
    del stats["region"]["by_core"]
    (runs / "imape-1" / "stats.json").write_text(render(stats))
    assert cores_tables(read_groups([runs / "imape-1"])) == []
