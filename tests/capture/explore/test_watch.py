# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress and failures of shards: what `s80lab collect --watch` shows and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base.hashing import file_hash
from s80lab.capture.explore.plan import load_plan
from s80lab.capture.explore.watch import Watcher, record_failure

GRID = ("--vary", "protocol=msi,moesi", "--vary", "l2.size=32KiB..64KiB")


def plan_of(place: Lab, capture: Path, folder: Path) -> Path:
    plan = folder / "grid.json"
    place.call("explore", str(capture), *GRID, "--plan", str(plan), "--list")
    return plan


def test_progress_counts_complete_running_and_failed_replays(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    plan = plan_of(place, drawn_file, tmp_path)
    watcher = Watcher(load_plan(plan), [place.results])
    assert (watcher.look().complete, watcher.look().left_s) == (0, None)
    place.call("explore", str(drawn_file), "--plan", str(plan), "--shard", "1/2")
    (place.results / "runs" / ".partial-replay-x-0a0b0c0d@node7").mkdir()
    missing = next(one for one in load_plan(plan).entries if not (place.results / "runs" / one.run).exists())
    with place.entered():
        record_failure(missing.run, missing.job, "the disk is full")
    progress = watcher.look()
    assert (progress.total, progress.complete, progress.running, progress.hosts) == (4, 2, 1, frozenset({"node7"}))
    assert [(one.job, one.reason) for one in progress.failed] == [(missing.job, "the disk is full")]
    assert progress.rate > 0 and progress.left_s is not None and not progress.ended
    assert progress.details()[:2] == ["2 of 4 complete", "1 failed"]


def test_watch_ends_when_all_are_complete_and_enters_the_runs(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    plan = plan_of(place, drawn_file, tmp_path)
    shard = place.start("explore", str(drawn_file), "--plan", str(plan), "--shard", "1/1")
    said = place.call("collect", "--watch", "--plan", str(plan))
    assert shard.wait() == 0
    assert "4 of 4 complete, 0 failed" in said and "4 runs: 0 copied" in said


def test_failed_replays_are_recorded_and_end_the_watch_with_1(place: Lab, drawn_file: Path, tmp_path: Path) -> None:
    plan = plan_of(place, drawn_file, tmp_path)
    with place.entered():
        for entry in load_plan(plan).entries:
            record_failure(entry.run, entry.job, "the capture is corrupt")
    (place.results / "runs").mkdir()
    said = place.call("collect", "--watch", "--plan", str(plan), code=1)
    assert "msi, l2.size=32KiB failed on" in said and "the capture is corrupt" in said
    assert "4 replays failed; repeat the command of the shards to try again" in said


def test_shard_goes_on_after_a_failure_and_a_success_clears_it(
    place: Lab, drawn_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "stage" / f"{drawn_file.parent.name}-{file_hash(drawn_file)[:16]}" / drawn_file.name
    copy.parent.mkdir(parents=True)
    copy.write_text("the disk of this host has damaged the copy of the capture")
    monkeypatch.setenv("S80LAB_STAGE", str(tmp_path / "stage"))
    said = place.call("explore", str(drawn_file), *GRID, "--shard", "1/1", code=2)
    assert "s80lab: 4 of 4 designs failed, the others are complete; the first failure: " in said
    records = [json.loads(path.read_text()) for path in (place.results / "failed").glob("*.json")]
    assert {record["job"] for record in records} >= {"msi, l2.size=32KiB"} and len(records) == 4
    assert all("this copy has changed since s80lab made it" in record["reason"] for record in records)
    copy.unlink()
    place.call("explore", str(drawn_file), *GRID, "--shard", "1/1")
    assert len(place.runs()) == 4 and not list((place.results / "failed").iterdir())


def test_watch_without_a_plan_names_the_option(place: Lab) -> None:
    said = place.call("collect", "--watch", code=2)
    assert "name the plan of the exploration with --plan FILE" in said
