# SPDX-License-Identifier: GPL-2.0-or-later
"""A page of what has been measured, on other hosts too, without a run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.lab import Lab

from s80lab.results.database import insert_run
from s80lab.results.run_folder import RunFolder


def reseed(lab: Lab, name: str, seed: int) -> None:
    path = lab.results / "runs" / name / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seed": seed}))
    insert_run(lab.results / "s80lab.sqlite", RunFolder(path.parent))


def test_reproduce_measured_uses_existing_runs_only(measured: Lab) -> None:
    reseed(measured, "imape-1", 1)
    before = set((measured.results / "runs").iterdir())
    asked = ("reproduce", "figure8", "figure9", "--measured", "--scale", "tiny")
    told = json.loads(measured.answer(*asked, "--json"))
    assert [figure["figure"] for figure in told["figures"]] == ["figure8", "figure9"]
    assert [group["seeds"] for group in told["figures"][0]["groups"]] == [[1], [1]]
    page = Path(told["report"])
    assert "Figure 9: E share" in page.read_text()
    assert set((measured.results / "runs").iterdir()) == before, "nothing is run"


def test_missing_runs_of_all_experiments_are_named_at_once(measured: Lab) -> None:
    refused = measured.call("reproduce", "figure8", "uw", "--measured", "--scale", "tiny", code=2)
    assert "contains no run of imape, seed 1; uw, seeds 1, 2, 3 with the design in the experiment's" in refused
    assert "repeat `s80lab reproduce` without --measured to make the runs" in refused
    assert not (measured.results / "reports").exists()


def test_list_states_minutes_and_title_of_each_figure_and_makes_none(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    listed = json.loads(lab.answer("reproduce", "--list", "--json"))
    assert {figure["figure"]: figure["minutes"] for figure in listed}.items() >= {"figure5": 40, "figure8": 0}.items()
    lines = lab.answer("reproduce", "paper", "--list").splitlines()
    assert "uw                  6  The paper's kind of server: UW's c-client with one process per session" in lines
    assert [line for line in lines if line.startswith("zvm")] == []
    assert not lab.results.exists()
