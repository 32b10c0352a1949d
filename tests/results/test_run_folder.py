# SPDX-License-Identifier: GPL-2.0-or-later
"""The folder of a run: each file is read once, and a missing file is named. Names of runs on the command line: whole
names, beginnings of names, folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.commands.misses import find_run
from s80lab.results.run_folder import RunFolder


def test_run_folder_reads_each_file_once(run_dir: Path) -> None:
    run = RunFolder(run_dir)
    first = (run.manifest, run.stats, run.load, run.snapshots, run.misses, run.wanted)
    for path in run_dir.iterdir():
        path.unlink()
    assert all(
        one is other
        for one, other in zip(
            first, (run.manifest, run.stats, run.load, run.snapshots, run.misses, run.wanted), strict=True
        )
    )


def test_run_folder_without_file_names_the_file(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    with pytest.raises(UserError, match=r"manifest\.json: cannot be read"):
        _ = run.manifest
    with pytest.raises(UserError, match=r"snapshots\.jsonl: cannot be read"):
        _ = run.snapshots
    assert run.misses == [] and run.wanted == {}
    assert not run.has_misses() and not run.has_profile()


def test_written_manifest_replaces_the_one_that_was_read(run_dir: Path) -> None:
    run = RunFolder(run_dir)
    run.write_manifest(run.manifest | {"mips": 7.5})
    assert run.manifest["mips"] == 7.5
    assert json.loads((run_dir / "manifest.json").read_text())["mips"] == 7.5
    assert not (run_dir / "manifest.json.partial").exists()


def test_replay_has_no_load(run_dir: Path) -> None:
    run = RunFolder(run_dir)
    assert run.load is not None and run.load["mix"] == "imapb"
    run.write_manifest(run.manifest | {"engine": "replay"})
    assert run.load is None


@pytest.mark.parametrize("key", ["inputs", "versions", "design", "varied", "differences"])
@pytest.mark.parametrize("value", [None, "text", 5, [], {"machine": {}}])
def test_manifest_table_of_another_type_is_refused(run_dir: Path, key: str, value: object) -> None:
    manifest = json.loads((run_dir / "manifest.json").read_text())
    (run_dir / "manifest.json").write_text(json.dumps(manifest | {key: value}))
    with pytest.raises(UserError, match=f"the value of `{key}` must be a table of texts and numbers"):
        _ = RunFolder(run_dir).manifest


@pytest.mark.parametrize(
    "change",
    [
        {"count": None},
        {"count": True},
        {"failed": -1},
        {"latency_ns": 5},
        {"latency_ns": {"mean": "x"}},
        {"histogram": [[1]]},
        {"histogram": 5},
    ],
)
def test_transactions_of_another_form_are_refused(run_dir: Path, change: dict[str, object]) -> None:
    load = json.loads((run_dir / "transactions.json").read_text())
    load["transactions"]["VIEW"] |= change
    (run_dir / "transactions.json").write_text(json.dumps(load))
    with pytest.raises(UserError, match="key `transactions`: the entry 'VIEW' has not the counts"):
        _ = RunFolder(run_dir).transactions


@pytest.fixture
def two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of one experiment, of which one has a log."""
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path))
    for name in ("imapb-tiny-s1-aaaa", "imapb-tiny-s1-bbbb"):
        (paths.runs() / name).mkdir(parents=True)
    (paths.runs() / "imapb-tiny-s1-bbbb" / "log").touch()
    return paths.runs()


def test_find_run_accepts_a_name_and_a_folder(two_runs: Path) -> None:
    assert find_run("imapb-tiny-s1-aaaa", "log", "--log") == two_runs / "imapb-tiny-s1-aaaa"
    assert find_run(str(two_runs / "imapb-tiny-s1-aaaa"), "log", "--log") == two_runs / "imapb-tiny-s1-aaaa"


def test_find_run_beginning_of_a_name_chooses_the_run_with_the_file(two_runs: Path) -> None:
    assert find_run("imapb-tiny", "log", "--log") == two_runs / "imapb-tiny-s1-bbbb"


def test_find_run_ambiguous_beginning_is_refused_with_the_names(two_runs: Path) -> None:
    (two_runs / "imapb-tiny-s1-aaaa" / "log").touch()
    with pytest.raises(
        UserError, match="begin with `imapb`: imapb-tiny-s1-aaaa, imapb-tiny-s1-bbbb; write one complete name"
    ):
        find_run("imapb", "log", "--log")


def test_find_run_without_the_file_names_the_option(two_runs: Path) -> None:
    with pytest.raises(UserError, match="was made with --other: make one with `s80lab run EXPERIMENT --other`"):
        find_run("imapb", "other", "--other")


@pytest.mark.parametrize("name", ["imape", "*"])
def test_find_run_unknown_name_is_refused(two_runs: Path, name: str) -> None:
    with pytest.raises(UserError, match="there is no run"):
        find_run(name, "log", "--log")
