# SPDX-License-Identifier: GPL-2.0-or-later
"""The main job at tiny scale on the real guest: whole folders, rows in the database, the same bytes every time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.lab import LIMIT_S, Lab

from s80lab.commands.run_tables import INVALID
from s80lab.results.database import list_runs
from s80lab.results.snapshots import Snapshots

pytestmark = [pytest.mark.guest, pytest.mark.changes_lab]

PRODUCTS = ("manifest.json", "stats.json", "transactions.json", "snapshots.jsonl", "console.log", "report.html")


def run_of(lab: Lab, experiment: str, seed: int) -> Path:
    folder: Path
    (folder,) = [path for path in lab.runs() if path.name.startswith(f"{experiment}-tiny-s{seed}-")]
    return folder


def clocks(path: Path, mark: str) -> list[int]:
    """Simulated times in nanoseconds of the snapshots with this mark."""
    lines = map(json.loads, path.read_text().splitlines()[1:])
    return [int(line["clock_ns"]) for line in lines if line["mark"] == mark]


@pytest.mark.parametrize("experiment", ["imapb", "imape"])
def test_run_folder_is_whole_and_free_of_errors(whole: Lab, experiment: str) -> None:
    folder = run_of(whole, experiment, 1)
    assert [name for name in PRODUCTS if not (folder / name).is_file()] == []
    result = json.loads((folder / "transactions.json").read_text())
    assert set(result["errors"].values()) == {0}
    assert result["totals"]["count"] > 0
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["status"] == "whole"
    assert manifest["instructions"] >= 200_000_000


@pytest.mark.parametrize("experiment", ["imapb", "imape"])
def test_load_generator_never_delays_the_clients(whole: Lab, experiment: str) -> None:
    """It is one thread: what it computes for itself, all clients wait for. A first exception, for example, once sorted
    the unwinder's tables in the middle of the mix."""
    folder = run_of(whole, experiment, 1)
    intervals = [
        interval
        for part in ("warmup.jsonl", "snapshots.jsonl")
        for interval in Snapshots.read(folder / part).intervals()
        if interval.instructions > 10_000_000
    ]
    own = {"class": "loadgen"}
    # In the last one it writes its result. Of an interval of 20 M it has a tenth at times; sorting took a whole one.
    shares = [interval.total("instructions", **own) / interval.instructions for interval in intervals[:-1]]
    assert len(shares) > 10 and max(shares) < 0.25


@pytest.mark.parametrize("experiment", ["imapb", "imape"])
def test_slice_is_not_longer_than_two_shares_of_an_epoch(whole: Lab, experiment: str) -> None:
    """An epoch has 20,000 cycles. 32768 stands for slices of up to 65,535 instructions."""
    metrics = json.loads((run_of(whole, experiment, 1) / "stats.json").read_text())["metrics"]
    assert metrics["slices_m"] > 0
    assert metrics["slice_length.longest"] <= 32768


@pytest.mark.parametrize("experiment", ["imapb", "imape"])
def test_guest_clock_equals_simulated_time_under_load(whole: Lab, experiment: str) -> None:
    """From the begin of the load, across the warm checkpoint, to the end of the region. The load generator reads its
    clock when it notices the end, which is later by up to the time between two of its events, never earlier."""
    folder = run_of(whole, experiment, 1)
    events = map(json.loads, (whole.checkpoint_of(folder) / "output.jsonl").read_text().splitlines())
    (begin,) = [event["clock_ns"] for event in events if event["event"] == "load_begin"]
    (simulated_begin,) = clocks(folder / "warmup.jsonl", "load_begin")
    (simulated_end,) = clocks(folder / "snapshots.jsonl", "measure_end")
    guest_ns = json.loads((folder / "transactions.json").read_text())["region"]["end_ns"] - begin
    assert -1_000_000 < guest_ns - (simulated_end - simulated_begin) < 40_000_000


def test_runs_of_both_mixes_are_in_the_database(whole: Lab) -> None:
    rows = list_runs(whole.results / "s80lab.sqlite")
    assert {"imapb", "imape"} <= {row["experiment"] for row in rows}
    said = whole.call("query", "--format", "csv", "select count(distinct run) from v_miss_source_all")
    assert int(said.split()[-1]) == len(rows)


def test_second_call_reuses_existing_runs(whole: Lab) -> None:
    before = {path: path.stat().st_mtime_ns for path in [*whole.runs(), *whole.checkpoints.glob("*/")]}
    whole.run_tiny("imapb", "imape", "--seeds", "1")
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_checkpoints_are_whole(whole: Lab) -> None:
    verdicts = whole.verdicts()
    assert {whole.checkpoint_of(run).name for run in whole.runs()} <= verdicts.keys()
    assert set(verdicts.values()) == {"whole"}


def test_equal_seed_gives_equal_bytes_on_a_busy_host(whole: Lab, tmp_path: Path) -> None:
    first = run_of(whole, "imapb", 1)
    again = whole.beside(tmp_path)
    copy = Path(shutil.copytree(first, again.results / "runs" / first.name))
    inode = copy.stat().st_ino
    loop = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    run = again.start("run", "imapb", "--scale", "tiny", "--seeds", "1", "--again")
    processor = {min(os.sched_getaffinity(0))}  # it has to share
    try:
        for process in (loop, run):
            os.sched_setaffinity(process.pid, processor)
        said, _ = run.communicate(timeout=LIMIT_S)
    finally:
        loop.kill()
        loop.wait()
    assert run.returncode == INVALID, said
    assert copy.stat().st_ino != inode
    assert (first / "stats.json").read_bytes() == (copy / "stats.json").read_bytes()


def test_different_seed_gives_different_totals(whole: Lab) -> None:
    """Any: an earlier test may have measured one."""

    def totals() -> list[object]:
        stats = [json.loads((run / "stats.json").read_text()) for run in whole.runs() if run.name.startswith("imapb-")]
        return [one["region"]["totals"] for one in stats]

    if len(totals()) == 1:
        whole.run_tiny("imapb", "--seeds", "2")
    one, *others = totals()
    assert others and one not in others


def test_instructions_all_have_a_process_class_and_an_entry_cause(whole: Lab) -> None:
    """Processes are told by the guest kernel's own words, and so is what the kernel was entered by."""
    for folder in whole.runs():
        region = Snapshots.read(folder / "snapshots.jsonl").region()
        instructions = region.total("entry_instructions")
        of = {label: region.total("entry_instructions", **{"class": label}) for label in region.header.labels["class"]}
        # a short region may hold more of the deliveries of mail sent before it than of sessions
        assert min(of["session"], of["delivery"]) > of["loadgen"] > 0
        assert min(of["idle"], of["kernel"]) > 0
        assert of["other"] < 0.01 * instructions
        by = {label: region.total("entry_instructions", entry=label) for label in region.header.labels["entry"]}
        assert min(count for entry, count in by.items() if entry != "unknown") > 0
        assert by["unknown"] < 0.01 * instructions
        for label in ("idle", "kernel"):
            assert region.total("instructions", privilege="user", **{"class": label}) == 0
        assert region.total("entry_instructions", entry="idle") == region.total(
            "entry_instructions", entry="idle", **{"class": "idle"}
        )
