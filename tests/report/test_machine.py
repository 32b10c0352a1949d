# SPDX-License-Identifier: GPL-2.0-or-later
"""Labels, page and name of the report state a changed design. The table of cores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from s80lab.analysis.groups import read_groups
from s80lab.config.machine import load_machine
from s80lab.report.machine import cores_tables, machine_table
from s80lab.report.write import report_name, write_experiment_report
from s80lab.results.metrics.derive import render

CHANGED = load_machine("s80", {"l2.size": "2MiB"}).design() | {"protocol": "mesi"}


def change(run: Path, **changed: Any) -> Path:
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"scale": "small"} | changed))
    return run


def test_changed_design_is_in_label_lead_and_table(runs: Path, tmp_path: Path) -> None:
    run = change(runs / "imapb-1", protocol="mesi", design=CHANGED)
    (group,) = read_groups([run])
    assert group.label == "imapb · mesi · l2.size=2MiB"
    cells = {row.label: row.cells[0].text for row in machine_table([group]).rows}
    assert (cells["protocol"], cells["l2.size"], cells["l2.ways"]) == ("≠ mesi", "≠ 2MiB", "4")
    assert set(cells) >= CHANGED.keys()
    page = write_experiment_report("report", [run], tmp_path).read_text(encoding="utf-8")
    assert "Different from the experiment&#39;s file: mesi, l2.size=2MiB." in page
    assert '<h2 id="machine">Machine</h2>' in page and "≠ 2MiB" in page


def test_runs_of_two_designs_are_two_groups(runs: Path) -> None:
    same = load_machine("s80").design()
    folders = [change(runs / "imapb-1", design=same), change(runs / "imapb-2", protocol="mesi", design=CHANGED)]
    assert [group.label for group in read_groups(folders)] == ["imapb", "imapb · mesi · l2.size=2MiB"]


def test_reports_of_two_designs_have_two_names(runs: Path) -> None:
    run, same = runs / "imapb-1", load_machine("s80").design()
    assert report_name(read_groups([change(run, design=same)])) == "imapb-small"
    names = set()
    for values in ({"l2.size": "2MiB"}, {"l2.size": "4MiB"}, {"l2.ways": 8}, {"latency.memory": 200}):
        names.add(report_name(read_groups([change(run, design=load_machine("s80", values).design())])))
    names.add(report_name(read_groups([change(run, protocol="mesi", design=same)])))
    assert len(names) == 5
    assert all(name.startswith("imapb-small-") for name in names)


def test_machine_of_many_groups_has_one_column_with_the_common_values(runs: Path) -> None:
    designs = [load_machine("s80", {"latency.memory": 100 + number}).design() for number in range(7)]
    groups = []
    for design in designs:
        groups += read_groups([change(runs / "imapb-1", design=design)])
    table = machine_table(groups)
    cells = {row.label: row.cells[0].text for row in table.rows}
    assert table.columns == ("all",)
    assert (cells["latency.memory"], cells["latency.cache"]) == ("several values", "120")


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
