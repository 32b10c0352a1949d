# SPDX-License-Identifier: GPL-2.0-or-later
"""A page of what has been measured, on other hosts too, without a run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.lab import Lab

from s80lab.results.database import insert_run


def reseed(lab: Lab, name: str, seed: int) -> None:
    path = lab.results / "runs" / name / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seed": seed}))
    insert_run(lab.results / "s80lab.sqlite", path.parent)


def test_the_page_is_of_the_runs_that_there_are(measured: Lab) -> None:
    for seed in (1, 2, 3):
        reseed(measured, f"imape-{seed}", seed)
    before = set((measured.results / "runs").iterdir())
    asked = ("reproduce", "figure8", "figure9", "--measured", "--scale", "tiny")
    told = json.loads(measured.answer(*asked, "--json"))
    assert [figure["figure"] for figure in told["figures"]] == ["figure8", "figure9"]
    assert [group["seeds"] for group in told["figures"][0]["groups"]] == [[1, 2, 3], [1, 2, 3]]
    page = Path(told["report"])
    assert "Figure 9: E share" in page.read_text()
    assert set((measured.results / "runs").iterdir()) == before, "nothing is run"


def test_a_seed_that_is_lacking_is_named(measured: Lab) -> None:
    refused = measured.call("reproduce", "figure8", "--measured", "--scale", "tiny", code=2)
    assert "contains no run of imape, seed 1 with the design in the experiment's file" in refused
    assert not (measured.results / "reports").exists()
