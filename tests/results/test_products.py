# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of a run's products: a run with a changed product is not whole, and the text says which file changed. Pipes
and devices in the place of files that travel between hosts are refused before anything is read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.base.test_staging import flip_last_byte

from s80lab.analysis.groups import read_run
from s80lab.analysis.misses.memory import read_map
from s80lab.analysis.misses.stacks import read_stacks
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.strict import read_toml
from s80lab.capture.explore.watch import FAILED, read_failures
from s80lab.results.collect import collect
from s80lab.results.products import LOGS, check_logs, is_whole, record_products, why_not_whole
from s80lab.results.run_folder import MANIFEST, STATS, TRANSACTIONS, RunFolder
from s80lab.results.snapshots import Snapshots


def test_manifest_lists_size_and_hash_of_each_product(run_dir: Path) -> None:
    (run_dir / "warmup.jsonl").write_text("intervals")
    (run_dir / "report.html").write_text("page")
    record_products(RunFolder(run_dir))
    manifest = json.loads((run_dir / "manifest.json").read_text())
    assert sorted(manifest["files"]) == [
        *("machine.toml", "snapshots.jsonl", "stats.json", "transactions.json", "warmup.jsonl"),
    ]
    assert manifest["files"]["warmup.jsonl"] == {
        "bytes": 9,
        "sha256": "ec3f30fe82847d4fd43a93fc4753900f2886d126b25bce52442a8627d4047505",
    }


@pytest.mark.parametrize("name", ["stats.json", "snapshots.jsonl", "transactions.json", "machine.toml"])
def test_run_with_a_changed_product_is_not_whole(run_dir: Path, name: str) -> None:
    record_products(RunFolder(run_dir))
    assert is_whole(run_dir) and why_not_whole(run_dir) == ""
    flip_last_byte(run_dir / name)
    assert not is_whole(run_dir)
    assert f"imapb-1/{name}: the file differs from the file that s80lab wrote" in why_not_whole(run_dir)
    (run_dir / name).unlink()
    assert f"imapb-1/{name}: the file is missing" in why_not_whole(run_dir)


def test_run_without_a_list_stays_readable(run_dir: Path) -> None:
    """The shipped reference runs have no list, and their folders lack snapshots.jsonl and machine.toml."""
    for name in ("snapshots.jsonl", "machine.toml"):
        (run_dir / name).unlink()
    assert is_whole(run_dir)
    assert read_run(RunFolder(run_dir)).manifest["run"] == "imapb-1"


def with_logs(run_dir: Path) -> RunFolder:
    for name in LOGS:
        (run_dir / name).write_bytes(name.encode())
    record_products(RunFolder(run_dir), {"misses.bin": 5})
    return RunFolder(run_dir)


def test_manifest_lists_hash_and_number_of_records_of_the_logs(run_dir: Path) -> None:
    run = with_logs(run_dir)
    assert run.manifest["logs"]["misses.bin"] == {
        "bytes": 10,
        "sha256": file_hash(run_dir / "misses.bin"),
        "records": 5,
    }
    assert run.manifest["logs"].keys() == set(LOGS)
    assert check_logs(run, *LOGS)


@pytest.mark.parametrize("name", ["misses.bin", "memory.npz", "profile.json"])
def test_changed_log_is_refused_where_it_is_read(run_dir: Path, name: str, tmp_path: Path) -> None:
    run = with_logs(run_dir)
    flip_last_byte(run_dir / name)
    with pytest.raises(UserError, match=f"{name}: the file differs from the file that s80lab wrote"):
        check_logs(run, name)
    assert is_whole(run_dir) and not is_whole(run_dir, name)
    with pytest.raises(UserError, match=f"{name}: the file differs from the file that s80lab wrote"):
        collect([run_dir], tmp_path / "collected", tmp_path / "collected.sqlite")


def test_log_that_the_manifest_does_not_list_is_refused(run_dir: Path) -> None:
    record_products(RunFolder(run_dir))
    (run_dir / "misses.bin").write_bytes(b"log")
    with pytest.raises(UserError, match="is not a file of this run"):
        check_logs(RunFolder(run_dir), "misses.bin")


@pytest.mark.parametrize("logs", [None, [], {"other": {}}, {"misses.bin": {"bytes": True, "sha256": "0"}}])
def test_malformed_list_of_logs_is_refused(run_dir: Path, logs: object) -> None:
    run = with_logs(run_dir)
    run.write_manifest(run.manifest | {"logs": logs})
    with pytest.raises(UserError, match="key `logs`"):
        check_logs(run, "misses.bin")


def test_run_before_the_list_of_logs_stays_readable(run_dir: Path) -> None:
    run = with_logs(run_dir)
    run.write_manifest({key: value for key, value in run.manifest.items() if key != "logs"})
    flip_last_byte(run_dir / "misses.bin")
    assert not check_logs(run, "misses.bin") and is_whole(run_dir, "misses.bin")


@pytest.mark.parametrize("name", [MANIFEST, STATS, TRANSACTIONS, "snapshots.jsonl", "map", "stacks", "machine.toml"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_file_that_is_not_regular_is_refused(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    run = RunFolder(tmp_path)
    readers: dict[str, Callable[[], object]] = {
        MANIFEST: lambda: run.manifest,
        STATS: lambda: run.stats,
        TRANSACTIONS: lambda: run.transactions,
        "snapshots.jsonl": lambda: Snapshots.read(path),
        "map": lambda: read_map(path),
        "stacks": lambda: list(read_stacks(path)),
        "machine.toml": lambda: read_toml(path),
    }
    with pytest.raises(UserError, match=f"{name}: is a (pipe or a device|folder), not a file"):
        readers[name]()


def test_records_of_failures_are_read_from_regular_files_only(tmp_path: Path) -> None:
    (tmp_path / FAILED).mkdir()
    os.mkfifo(tmp_path / FAILED / "pipe.json")
    (tmp_path / FAILED / "zero.json").symlink_to("/dev/zero")
    assert read_failures(tmp_path) == {}
