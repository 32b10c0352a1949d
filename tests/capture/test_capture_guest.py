# SPDX-License-Identifier: GPL-2.0-or-later
"""Both forms of one short run of the real guest: what their own replays are, and what filtering loses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.capture.error import ANY_SHARE
from s80lab.capture.store import Manifest

pytestmark = pytest.mark.guest

CAPTURE = (
    "capture",
    "imapb",
    "--scale",
    "tiny",
    "--form",
    "both",
    "--warm-up",
    "60000000",
    "--instructions",
    "40000000",
)


@pytest.fixture(scope="module")
def beside(whole: Lab, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return whole.beside(tmp_path_factory.mktemp("captures"))


@pytest.fixture(scope="module")
def both(beside: Lab) -> Manifest:
    said = beside.call(*CAPTURE)
    name = next(line for line in said.splitlines() if line.startswith("capture: ")).removeprefix("capture: ")
    return Manifest.model_validate_json((beside.captures / f"{name}.json").read_text())


def test_full_capture_replays_to_the_bytes_of_the_live_run(both: Manifest) -> None:
    assert both.forms["full"].identical
    # The live run's stats.json holds rounded numbers, so equal bytes come out as nearly nothing.
    assert both.forms["full"].differences[ANY_SHARE] == pytest.approx(0, abs=1e-6)


def test_filtered_capture_is_small_and_close_to_the_live_run(both: Manifest) -> None:
    full, filtered = both.forms["full"], both.forms["filtered"]
    assert filtered.events < full.events / 5
    assert (filtered.accesses, filtered.instructions) == (full.accesses, full.instructions)
    assert full.bytes_per_access <= 2
    points = filtered.differences[ANY_SHARE]
    assert points is not None and points < 0.5


def test_live_run_of_a_capture_is_kept_outside_the_results(beside: Lab, both: Manifest) -> None:
    folder = beside.captures / both.name
    names = {path.name for path in folder.iterdir()}
    assert {"snapshots.jsonl", "transactions.json", "stats.json", "manifest.json", "report.html"} <= names
    assert not [path for path in folder.iterdir() if path.name.startswith("replay-")]
    assert not (beside.results / "runs" / both.name).exists()


def test_existing_capture_is_not_recorded_again(beside: Lab, both: Manifest) -> None:
    before = (beside.captures / both.name / "filtered.s80c").stat().st_mtime_ns
    assert f"capture: {both.name}" in beside.call(*CAPTURE)
    assert (beside.captures / both.name / "filtered.s80c").stat().st_mtime_ns == before
    assert f"{both.name}: whole" in beside.call("captures", "verify")


def test_out_file_for_both_forms_is_refused(beside: Lab) -> None:
    assert "--form both makes two files, but --out names one" in beside.call(*CAPTURE, "--out", "x.s80c", code=2)


def test_replay_report_compares_with_the_live_run(beside: Lab, both: Manifest) -> None:
    said = beside.call("replay", both.name, "--form", "full")
    assert "imapb · tiny · replay: " in said and "imapb · tiny · qemu: " in said


def test_filter_error_command_writes_a_table_row_per_design(beside: Lab, both: Manifest, tmp_path: Path) -> None:
    out = tmp_path / "filter-error.json"
    grid = ("--vary", "protocol=mesi,hammer", "--vary", "l2.size=512KiB,8MiB")
    beside.call("filter-error", both.name, *grid, "--out", str(out))
    rows = json.loads(out.read_text())["rows"]
    assert [(row["protocol"], row["l2.size"] >> 10, row["l2.inclusion"]) for row in rows] == [
        ("mesi", 512, "inclusive"),
        ("mesi", 8192, "inclusive"),
        ("hammer", 512, "exclusive"),
        ("hammer", 8192, "exclusive"),
    ]
    assert all(abs(row["errors"]["memory_share"]) < 20 for row in rows)
    assert out.with_suffix(".md").read_text().count("\n| ") == 2 + len(rows)
