# SPDX-License-Identifier: GPL-2.0-or-later
"""What may stand in results/reference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from s80lab.base.errors import UserError
from s80lab.commands import reference as reference_commands
from s80lab.commands.reference import keep_reference


@pytest.fixture
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(reference_commands, "REFERENCE", tmp_path / "reference")
    return tmp_path / "reference"


def test_results_are_kept_with_their_report(runs: Path, reference: Path) -> None:
    folders = [runs / f"imape-{seed}" for seed in (1, 2, 3)]
    target = keep_reference("made", folders)
    assert target == reference / "made"
    assert (target / "report.html").is_file() and (target / "figures" / "e_state.svg").is_file()
    for folder in folders:
        assert (target / "runs" / folder.name / "stats.json").read_bytes() == (folder / "stats.json").read_bytes()
    keep_reference("made", folders[:2])
    assert len(list((target / "runs").iterdir())) == 2


def test_a_run_that_is_no_result_is_refused_and_what_was_there_stays(runs: Path, reference: Path) -> None:
    keep_reference("made", [runs / "imape-1"])
    path = runs / "imape-2" / "stats.json"
    stats = json.loads(path.read_text())
    stats["standing"] = {"verdict": "not a result", "reasons": ["1.80 client cycles measured, 3 are needed"]}
    path.write_text(json.dumps(stats))
    with pytest.raises(UserError, match=r"imape-2 is not a result \(1.80 client cycles measured, 3 are needed\)"):
        keep_reference("made", [runs / "imape-1", runs / "imape-2"])
    assert [run.name for run in (reference / "made" / "runs").iterdir()] == ["imape-1"]


@pytest.mark.parametrize("name", ["../small", "a/b", ".", "..", ".hidden"])
def test_a_path_is_no_name(name: str, reference: Path) -> None:
    with pytest.raises(UserError, match="is no name of a folder in results/reference"):
        keep_reference(name, [])
