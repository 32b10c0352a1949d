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

LISTED = "ready-a: 200 MB, built in 81 s\nready-b: 100 MB, built in 81 s\nwarm-c: 100 MB, a folder without a manifest\n"
TOTAL = "2 checkpoints and 1 folder, 400 MB"


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
                    wall_s=81,
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
    assert said.endswith("1 checkpoint and 1 folder, 300 MB removed\n")
    assert names(store) == ["ready-b", "ready-b.json"]


def test_prune_with_unknown_name_to_keep_removes_nothing(store: Lab) -> None:
    said = store.call("checkpoint", "prune", "--keep", "ready-c", "--yes", code=2)
    assert said.startswith("s80lab: nothing was removed: --keep ready-c: no checkpoint has the name `ready-c`: did you")
    assert names(store) == EVERYTHING


def test_prune_keeps_all_entries_whose_names_have_the_beginning(store: Lab) -> None:
    store.call("checkpoint", "prune", "--keep", "ready-", "--yes")
    assert names(store) == ["ready-a", "ready-a.json", "ready-b", "ready-b.json"]


def test_remove_with_yes_removes_the_named_entry_and_no_stray_folder(store: Lab) -> None:
    said = store.call("checkpoint", "remove", "ready-a", "--yes")
    assert said == "ready-a: 200 MB, built in 81 s\n1 checkpoint, 200 MB removed\n"
    assert names(store) == ["ready-b", "ready-b.json", "warm-c"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("ready", "several names begin with `ready`: ready-a, ready-b; write more of the name"),
        ("raedy-a", "no checkpoint has the name `raedy-a`: did you mean ready-a? (allowed are ready-a, ready-b)"),
        ("", "no checkpoint has the name ``"),
    ],
)
def test_remove_with_unclear_name_removes_nothing(store: Lab, name: str, sentence: str) -> None:
    assert sentence in store.call("checkpoint", "remove", name, "--yes", code=2)
    assert names(store) == EVERYTHING


def test_list_and_verify_of_empty_store_name_the_command_that_fills_it(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    for command_name in ("list", "verify"):
        assert "no checkpoints yet: `s80lab checkpoint build imapb`" in lab.call("checkpoint", command_name)
        assert lab.call("captures", command_name) == "no captures yet: `s80lab capture imapb` records the first\n"


def test_prune_of_an_empty_store_asks_nothing(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "checkpoints", tmp_path / "results")
    assert lab.call("checkpoint", "prune") == "there is no checkpoint to remove\n"


@pytest.mark.parametrize("answer", ["n", "", "maybe"])
def test_prune_on_terminal_without_yes_removes_nothing(store: Lab, answer: str) -> None:
    done = typed(store, answer)
    assert done.returncode == 0
    assert done.stderr == f"Remove {TOTAL}? [y/N] nothing was removed\n"
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
