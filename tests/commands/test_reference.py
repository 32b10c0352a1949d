# SPDX-License-Identifier: GPL-2.0-or-later
"""What may stand in results/reference."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.commands import reference as reference_commands
from s80lab.commands.reference import keep_page, keep_reference
from s80lab.config.reproduce import load_figures
from s80lab.report.reproduce import show_figure, write_page


@pytest.fixture
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(reference_commands, "REFERENCE", tmp_path / "reference")
    return tmp_path / "reference"


def test_results_are_kept_with_their_report(runs: Path, reference: Path) -> None:
    folders = [runs / f"imape-{seed}" for seed in (1, 2, 3)]
    target, others = keep_reference("made", folders)
    assert target == reference / "made" and others == []
    assert (target / "report.html").is_file() and (target / "figures" / "e_state.svg").is_file()
    for folder in folders:
        assert (target / "runs" / folder.name / "stats.json").read_bytes() == (folder / "stats.json").read_bytes()
    keep_reference("made", folders[:2])
    assert len(list((target / "runs").iterdir())) == 2


def test_keep_reference_keeps_the_files_that_it_does_not_write(runs: Path, reference: Path) -> None:
    """results/reference/uw has such files."""
    target, _ = keep_reference("made", [runs / "imape-1"])
    (target / "reproduce.html").write_text("page")
    (target / "optimisation").mkdir()
    (target / "optimisation" / "o0.json").write_text("{}")
    (target / "figures" / "old.svg").write_text("")
    assert keep_reference("made", [runs / "imape-2"]) == (target, ["optimisation", "reproduce.html"])
    assert (target / "reproduce.html").read_text() == "page"
    assert (target / "optimisation" / "o0.json").read_text() == "{}"
    assert not (target / "figures" / "old.svg").exists()
    assert [run.name for run in (target / "runs").iterdir()] == ["imape-2"]


def test_a_run_that_is_no_result_is_refused_and_what_was_there_stays(runs: Path, reference: Path) -> None:
    keep_reference("made", [runs / "imape-1"])
    path = runs / "imape-2" / "stats.json"
    stats = json.loads(path.read_text())
    stats["standing"] = {"verdict": "not a result", "reasons": ["1.80 client cycles measured, 3 are needed"]}
    path.write_text(json.dumps(stats))
    with pytest.raises(UserError, match=r"run imape-2 is invalid \(1.80 client cycles measured, 3 are needed\)"):
        keep_reference("made", [runs / "imape-1", runs / "imape-2"])
    assert [run.name for run in (reference / "made" / "runs").iterdir()] == ["imape-1"]


def test_a_page_is_kept_with_its_pictures(runs: Path, reference: Path, tmp_path: Path) -> None:
    folders = {mix: [runs / f"{mix}-{seed}" for seed in (1, 2, 3)] for mix in ("imapb", "imape")}
    shown = show_figure(load_figures(["figure8"])[0], folders)
    page = write_page([shown], tmp_path / "page")
    kept = [run for group in shown.groups for run in group.runs if not run.reasons]
    target = keep_page(page, "figure8", kept)
    assert target == reference / "paper" / "figure8"
    assert (target / page.name).read_bytes() == page.read_bytes()
    assert (target / "figures" / "figure8.svg").is_file()
    none = replace(kept[0], stats={**kept[0].stats, "standing": {"verdict": "not a result", "reasons": ["short"]}})
    (page.parent / "figures" / "figure8.svg").unlink()
    with pytest.raises(UserError, match=r"is invalid \(short\)"):
        keep_page(page, "figure8", [*kept, none])
    assert (target / "figures" / "figure8.svg").is_file()


@pytest.mark.parametrize("name", ["../small", "a/b", ".", "..", ".hidden"])
def test_a_path_is_no_name(name: str, reference: Path) -> None:
    with pytest.raises(UserError, match="cannot name a folder in results/reference"):
        keep_reference(name, [])
