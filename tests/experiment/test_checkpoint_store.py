# SPDX-License-Identifier: GPL-2.0-or-later
"""The store of checkpoints: a stale or damaged one is never taken for a good one."""

from __future__ import annotations

import asyncio
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from rich.console import Console
from tests.base.test_stage import flip_last_byte
from tests.lab import Lab

from s80lab.base.errors import UserError
from s80lab.base.hashing import sparse_hash, value_hash
from s80lab.base.progress import Board
from s80lab.base.staging import tidy
from s80lab.base.transfer import export
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import GUEST_STATE, MODEL_STATE, Checkpoint, Stage
from s80lab.guest.command import RAM_FILE
from s80lab.results.run_folder import SNAPSHOTS

NOBODY = 65534


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path))
    return tmp_path


def make(store: Path, name: str, said: io.StringIO | None = None) -> Checkpoint:
    """A checkpoint, built unless it exists; a warm one if its name says so. said: receives the progress lines."""
    inputs = {"kernel": "1", "name": name}
    stage: Stage = "warm" if name.startswith("warm") else "ready"

    async def boot(folder: Path) -> dict[str, str]:
        (folder / RAM_FILE).write_bytes(b"\0" * 5_000_000 + b"data")
        (folder / GUEST_STATE).write_bytes(b"state")
        if stage == "warm":
            (folder / MODEL_STATE).write_bytes(b"caches")
            (folder / SNAPSHOTS).write_bytes(b"interval 1\ninterval 2\n")
        return {"qemu_version": "10.0.2"}

    wanted = checkpoint.Wanted(stage, name, value_hash(inputs), inputs)
    board = Board(Console(file=said or io.StringIO()))
    return asyncio.run(checkpoint.build(wanted, board.job(name), boot, nullcontext()))


def test_recorded_checkpoint_is_found_and_whole(store: Path) -> None:
    made = make(store, "ready-a")
    assert checkpoint.find("ready-a", made.manifest.key) == made
    assert checkpoint.verify(made) == "whole"


def test_checkpoint_with_other_inputs_is_not_found(store: Path) -> None:
    make(store, "ready-a")
    assert checkpoint.find("ready-a", value_hash({"kernel": "2"})) is None


def test_checkpoint_modified_after_recording_is_refused(store: Path) -> None:
    """In its length, as damage and tampering leave it."""
    made = make(store, "ready-a")
    made.guest_state.write_bytes(b"stath")
    os.utime(made.guest_state, (later := made.guest_state.stat().st_mtime + 60, later))
    with pytest.raises(
        UserError, match=r"guest.state: the file has changed since s80lab wrote it; remove the folder .*ready-a, and"
    ):
        checkpoint.find("ready-a", made.manifest.key)
    made.guest_state.write_bytes(b"state")
    os.utime(made.guest_state, (later, later))
    assert checkpoint.find("ready-a", made.manifest.key) == made


@pytest.mark.parametrize("name", [RAM_FILE, GUEST_STATE, MODEL_STATE, SNAPSHOTS])
def test_flipped_bit_with_kept_time_is_refused(store: Path, name: str) -> None:
    made = make(store, "warm-a")
    assert make(store, "warm-a") == made
    flip_last_byte(made.folder / name)
    assert checkpoint.verify(made) == "damaged"
    sentence = rf"{name}: the file has changed since s80lab wrote it; remove the folder .*warm-a, and s80lab will build"
    for use in (lambda: checkpoint.check(made), lambda: make(store, "warm-a")):
        with pytest.raises(UserError, match=sentence):
            use()


def test_warm_checkpoint_without_a_hash_of_its_snapshots_is_built_again(store: Path) -> None:
    """Older versions of s80lab did not record this hash."""
    made = make(store, "warm-a")
    files = {name: record for name, record in made.manifest.files.items() if name != SNAPSHOTS}
    checkpoint.STORE.record(made.manifest.model_copy(update={"files": files}))
    assert not checkpoint.exists("warm-a", made.manifest.key)
    assert checkpoint.find("warm-a", made.manifest.key) is None
    assert [checkpoint.verify(old) for old in checkpoint.all_checkpoints()] == ["outdated"]
    said = io.StringIO()
    assert checkpoint.verify(make(store, "warm-a", said)) == "whole"
    assert (
        "warm-a: this checkpoint is built again: an older version of s80lab wrote it, without a hash of snapshots.jsonl"
        in said.getvalue()
    )


def test_verdicts_of_a_test_lab_omit_checkpoints_of_an_older_version(store: Path) -> None:
    lab = Lab(store, store.parent / "results")
    old = make(store, "warm-a")
    make(store, "warm-b")
    assert lab.verdicts() == {"warm-a": "whole", "warm-b": "whole"}
    files = {name: record for name, record in old.manifest.files.items() if name != SNAPSHOTS}
    checkpoint.STORE.record(old.manifest.model_copy(update={"files": files}))
    assert lab.verdicts() == {"warm-b": "whole"}
    make(store, "warm-c").guest_state.unlink()
    assert lab.verdicts() == {"warm-b": "whole", "warm-c": "missing"}


def test_truncated_checkpoint_is_built_again_with_a_sentence(store: Path) -> None:
    made = make(store, "ready-a")
    made.guest_state.write_bytes(b"stat")
    said = io.StringIO()
    assert checkpoint.verify(make(store, "ready-a", said)) == "whole"
    assert "ready-a: this checkpoint is built again: a file is missing or has another length" in said.getvalue()


def test_dropped_checkpoint_is_built_again_without_a_sentence(store: Path) -> None:
    checkpoint.drop(make(store, "ready-a"))
    said = io.StringIO()
    make(store, "ready-a", said)
    assert "built again" not in said.getvalue()


def test_manifest_without_files_is_not_whole(store: Path) -> None:
    """An older version of `checkpoint import` accepted such a manifest."""
    made = make(store, "ready-a")
    checkpoint.STORE.record(made.manifest.model_copy(update={"files": {}}))
    (empty,) = checkpoint.all_checkpoints()
    assert checkpoint.verify(empty) == "missing" and not checkpoint.STORE.present(empty.manifest)
    assert checkpoint.find("ready-a", made.manifest.key) is None
    with pytest.raises(UserError, match="there is no `ready-a`"):
        export(checkpoint.STORE, "ready-a", store.parent / "exported")
    assert checkpoint.verify(make(store, "ready-a")) == "whole"


def test_checkpoint_without_guest_state_is_missing(store: Path) -> None:
    made = make(store, "ready-a")
    made.guest_state.unlink()
    assert checkpoint.find("ready-a", made.manifest.key) is None
    assert checkpoint.verify(made) == "missing"


@pytest.mark.parametrize("name", [RAM_FILE, GUEST_STATE])
def test_checkpoint_with_changed_byte_is_damaged(store: Path, name: str) -> None:
    made = make(store, "ready-a")
    with (made.folder / name).open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"!")
    assert checkpoint.verify(made) == "damaged"


def test_checkpoint_with_changed_manifest_is_damaged(store: Path) -> None:
    made = make(store, "ready-a")
    manifest = made.manifest.model_copy(update={"inputs": {"kernel": "9"}})
    assert checkpoint.verify(Checkpoint(manifest, made.folder)) == "damaged"


def test_truncated_checkpoint_manifest_is_ignored(store: Path) -> None:
    made = make(store, "ready-a")
    path = store / "ready-a.json"
    path.write_text(path.read_text()[:40])
    assert checkpoint.find("ready-a", made.manifest.key) is None
    assert checkpoint.all_checkpoints() == []


def test_prune_removes_all_but_the_kept(store: Path) -> None:
    make(store, "ready-a")
    kept = make(store, "ready-b")
    (store / "warm-without-manifest").mkdir()
    assert [name for name, _ in checkpoint.prune({"ready-b"})] == ["ready-a"]
    assert checkpoint.all_checkpoints() == [kept]
    assert sorted(path.name for path in store.iterdir() if path.is_dir()) == ["ready-b"]


def test_checkpoint_manifest_with_wrong_name_is_ignored_and_removes_no_file(store: Path) -> None:
    make(store, "ready-a")
    victim = store.parent / "victim.json"
    victim.write_text("kept")
    manifest = store / "ready-a.json"
    manifest.write_text(manifest.read_text().replace('"ready-a"', '"../victim"'))
    assert checkpoint.all_checkpoints() == []
    checkpoint.prune(set())
    assert victim.read_text() == "kept"


def test_checkpoint_manifest_that_is_not_text_is_ignored(store: Path) -> None:
    (store / "ready-a.json").write_bytes(b"\xff\xfe{")
    assert checkpoint.all_checkpoints() == []


def test_sparse_hash_is_independent_of_holes(tmp_path: Path) -> None:
    sparse, dense = tmp_path / "sparse", tmp_path / "dense"
    dense.write_bytes(b"\0" * 9_000_000 + b"x" + b"\0" * 9_000_000)
    with sparse.open("wb") as file:
        file.seek(9_000_000)
        file.write(b"x")
        file.truncate(18_000_001)
    assert sparse.stat().st_blocks < dense.stat().st_blocks
    assert sparse_hash(sparse) == sparse_hash(dense)
    with sparse.open("r+b") as file:
        file.truncate(18_000_002)
    assert sparse_hash(sparse) != sparse_hash(dense)


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The store of somebody else, where everybody may read. Root, who may write everywhere, is nobody meanwhile."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are closed to others
        Path(folder).chmod(0o755)
        store = Path(folder) / "checkpoints"
        monkeypatch.setenv("S80LAB_CHECKPOINTS", str(store))
        make(store, "ready-a")
        store.chmod(0o555)
        (store / ".ready-a.lock").chmod(0o444)
        user = os.geteuid()
        os.seteuid(user or NOBODY)
        yield store
        os.seteuid(user)
        store.chmod(0o755)


def test_checkpoint_store_of_another_user_is_readable(others: Path) -> None:
    """As students do with their teacher's."""
    said: list[str] = []
    tidy(said.append, others)
    assert said == [] and make(others, "ready-a").folder == others / "ready-a"
    with pytest.raises(PermissionError):
        make(others, "ready-b")
