# SPDX-License-Identifier: GPL-2.0-or-later
"""What may become a reference result, and a page of what has been measured, on other hosts too, without a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.pages import write_pages
from s80lab.commands.reference import keep_page, keep_reference
from s80lab.config.reproduce import load_figures
from s80lab.report.reproduce import show_figure, write_page
from s80lab.results.database import insert_run
from s80lab.results.reference import result_runs, unpacked, write_pack
from s80lab.results.run_folder import RunFolder


@pytest.fixture
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")
    monkeypatch.setattr(paths, "REFERENCE", tmp_path / "reference")
    return tmp_path / "reference"


def names(result: str) -> list[str]:
    return [run.name for run in result_runs(result)]


def test_runs_are_kept_as_a_pack(runs: Path, reference: Path) -> None:
    folders = [runs / f"imape-{seed}" for seed in (1, 2, 3)]
    pack, others = keep_reference("made", folders)
    assert pack == reference / "made.tar.xz" and others == []
    for folder, kept in zip(folders, result_runs("made"), strict=True):
        assert (kept / "stats.json").read_bytes() == (folder / "stats.json").read_bytes()
    (page,) = write_pages("made")
    assert page.is_file() and (page.parent / "figures" / "e_state.svg").is_file()
    keep_reference("made", folders[:2])
    assert names("made") == ["imape-1", "imape-2"]


def test_keep_reference_keeps_the_files_that_it_does_not_write(runs: Path, reference: Path, tmp_path: Path) -> None:
    """The result `uw` has such files. Pages are not kept."""
    (tmp_path / "files" / "optimisation").mkdir(parents=True)
    (tmp_path / "files" / "optimisation" / "o0.json").write_text("{}")
    (tmp_path / "files" / "profiles.json").write_text("[]")
    write_pack(tmp_path / "files", reference / "made.tar.xz")
    keep_reference("made", [runs / "imape-1"])
    list(write_pages("made"))
    assert keep_reference("made", [runs / "imape-2"])[1] == ["optimisation", "profiles.json"]
    folder = unpacked("made")
    assert (folder / "optimisation" / "o0.json").read_text() == "{}"
    assert not (folder / "report.html").exists()
    assert names("made") == ["imape-2"]


def test_invalid_run_is_refused_and_the_pack_stays(runs: Path, reference: Path) -> None:
    keep_reference("made", [runs / "imape-1"])
    path = runs / "imape-2" / "stats.json"
    stats = json.loads(path.read_text())
    stats["standing"] = {"verdict": "invalid", "reasons": ["1.80 client cycles measured, 3 are needed"]}
    path.write_text(json.dumps(stats))
    with pytest.raises(UserError, match=r"run imape-2 is invalid \(1.80 client cycles measured, 3 are needed\)"):
        keep_reference("made", [runs / "imape-1", runs / "imape-2"])
    assert names("made") == ["imape-1"]


def test_page_is_kept_with_its_pictures(runs: Path, reference: Path, tmp_path: Path) -> None:
    folders = {mix: [runs / f"{mix}-{seed}" for seed in (1, 2, 3)] for mix in ("imapb", "imape")}
    shown = show_figure(load_figures(["figure8"])[0], folders)
    page = write_page([shown], tmp_path / "page")
    kept = [run for group in shown.groups for run in group.runs if not run.reasons]
    assert keep_page(page, "figure8", kept) == reference / "paper.tar.xz"
    assert (unpacked("paper") / "figure8" / page.name).read_bytes() == page.read_bytes()
    assert (unpacked("paper") / "figure8" / "figures" / "figure8.svg").is_file()
    none = replace(kept[0], stats={**kept[0].stats, "standing": {"verdict": "invalid", "reasons": ["short"]}})
    (page.parent / "figures" / "figure8.svg").unlink()
    with pytest.raises(UserError, match=r"is invalid \(short\)"):
        keep_page(page, "figure8", [*kept, none])
    assert (unpacked("paper") / "figure8" / "figures" / "figure8.svg").is_file()
    keep_page(page, "again", kept)
    assert sorted(folder.name for folder in unpacked("paper").glob("[!.]*")) == ["again", "figure8"]


@pytest.mark.parametrize("name", ["../small", "a/b", ".", "..", ".hidden"])
def test_path_is_refused_as_name(name: str, reference: Path) -> None:
    with pytest.raises(UserError, match="cannot name a reference result"):
        keep_reference(name, [])


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
