# SPDX-License-Identifier: GPL-2.0-or-later
"""`s80lab checkpoint prune`: what is removed is printed with its size and confirmed first."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest
from tests.forked import command
from tests.lab import LIMIT_S, Lab

from s80lab.base.hashing import value_hash
from s80lab.base.store import now
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import GUEST_STATE, STORE, Manifest

LISTED = "ready-a: 0.2 GB\nready-b: 0.1 GB\nwarm-c: 0.1 GB, a folder without a manifest\n"
TOTAL = "2 checkpoints and 1 folder, 0.4 GB"


@pytest.fixture
def store(tmp_path: Path) -> Lab:
    """Two checkpoints, of 200 and 100 MB, and a folder of 100 MB that an interrupted command left."""
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    with lab.entered():
        for name, megabytes in (("ready-a", 200), ("ready-b", 100)):
            fill(lab.checkpoints / name, megabytes)
            inputs = {"kernel": name}
            files = STORE.hash_files(lab.checkpoints / name, (GUEST_STATE,))
            STORE.record(
                Manifest(
                    name=name,
                    stage="ready",
                    key=value_hash(inputs),
                    inputs=inputs,
                    files=files,
                    wall_s=1,
                    created=now(),
                )
            )
        fill(lab.checkpoints / "warm-c", 100)
    return lab


def fill(folder: Path, megabytes: int) -> None:
    folder.mkdir(parents=True)
    with (folder / GUEST_STATE).open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, megabytes * 1_000_000)


def names(lab: Lab) -> list[str]:
    return sorted(path.name for path in lab.checkpoints.iterdir() if not path.name.startswith("."))


EVERYTHING = ["ready-a", "ready-a.json", "ready-b", "ready-b.json", "warm-c"]


def test_prune_without_terminal_removes_nothing_and_names_the_option(store: Lab) -> None:
    assert store.call("checkpoint", "prune", code=2) == (
        f"{LISTED}s80lab: nothing was removed: stdin is not a terminal, so s80lab cannot ask; confirm with --yes\n"
    )
    assert names(store) == EVERYTHING


def test_prune_dry_run_prints_sizes_and_removes_nothing(store: Lab) -> None:
    said = store.call("checkpoint", "prune", "--dry-run", "--yes")
    assert said == f"{LISTED}{TOTAL} would be removed; nothing was removed (dry run)\n"
    assert names(store) == EVERYTHING


def test_prune_with_yes_removes_all_but_the_kept(store: Lab) -> None:
    said = store.call("checkpoint", "prune", "--keep", "ready-b", "--yes")
    assert said.endswith("1 checkpoint and 1 folder, 0.3 GB removed\n")
    assert names(store) == ["ready-b", "ready-b.json"]


def test_prune_with_unknown_name_to_keep_removes_nothing(store: Lab) -> None:
    said = store.call("checkpoint", "prune", "--keep", "ready-c", "--yes", code=2)
    assert said.startswith("s80lab: --keep ready-c: no checkpoint has this name: ")
    assert said.endswith("; nothing was removed\n")
    assert names(store) == EVERYTHING


def test_prune_of_an_empty_store_asks_nothing(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    assert lab.call("checkpoint", "prune") == "0 checkpoints, 0.0 GB removed\n"


@pytest.mark.parametrize("answer", ["n", "", "maybe"])
def test_prune_on_terminal_without_yes_removes_nothing(store: Lab, answer: str) -> None:
    done = typed(store, answer)
    assert done.returncode == 2
    assert f"Remove {TOTAL}? [y/N] " in done.stderr
    assert done.stderr.endswith("s80lab: nothing was removed: the answer was not yes\n")
    assert names(store) == EVERYTHING


def test_prune_on_terminal_with_yes_removes_what_was_listed(store: Lab) -> None:
    done = typed(store, "y")
    assert (done.returncode, done.stdout) == (0, f"{LISTED}{TOTAL} removed\n")
    assert names(store) == []
    with store.entered():
        assert checkpoint.all_checkpoints() == []


def typed(lab: Lab, answer: str) -> subprocess.CompletedProcess[str]:
    """`s80lab checkpoint prune` at a terminal on which `answer` is typed."""
    terminal, stdin = pty.openpty()
    os.write(terminal, f"{answer}\n".encode())
    try:
        return subprocess.run(
            command(["checkpoint", "prune"]),
            env=lab.environment(),
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
    finally:
        os.close(stdin)
        os.close(terminal)
