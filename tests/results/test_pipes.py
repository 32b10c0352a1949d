# SPDX-License-Identifier: GPL-2.0-or-later
"""Pipes and devices in the place of files that travel between hosts are refused before anything is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from s80lab.analysis.misses.memory import read_map
from s80lab.analysis.misses.stacks import read_stacks
from s80lab.base.errors import UserError
from s80lab.base.strict import read_toml
from s80lab.capture.explore.watch import FAILED, read_failures
from s80lab.results.run_folder import MANIFEST, STATS, TRANSACTIONS, RunFolder
from s80lab.results.snapshots import Snapshots


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
