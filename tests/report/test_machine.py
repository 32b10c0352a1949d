# SPDX-License-Identifier: GPL-2.0-or-later
"""A changed design is said in labels, on the page and in the name of the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from s80lab.analysis.groups import read_groups
from s80lab.config.machine import load_machine
from s80lab.report.machine import machine_table
from s80lab.report.write import report_name, write_experiment_report

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
