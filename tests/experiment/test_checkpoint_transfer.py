# SPDX-License-Identifier: GPL-2.0-or-later
"""Checkpoints that go to another host, and to its own disk: the same bytes or one sentence, holes kept."""

from __future__ import annotations

import asyncio
import fcntl
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from tests.experiment.test_checkpoint_store import make

from s80lab.base.errors import UserError
from s80lab.base.progress import Board, Job
from s80lab.base.transfer import EXPORT, export, take_in
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import GUEST_STATE, SNAPSHOTS, STORE, Checkpoint
from s80lab.guest.command import RAM_FILE


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkpoint:
    """A checkpoint with a file that its manifest does not hash, as the warm ones have."""
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "here"))
    checkpoint = make(tmp_path / "here", "ready-a")
    (checkpoint.folder / SNAPSHOTS).write_text("windows")
    with checkpoint.ram.open("r+b") as file:  # the block of zeros becomes a hole, the content stays
        content = file.read()
        file.truncate(0)
        file.seek(len(content) - 4)
        file.write(content[-4:])
    return checkpoint


@pytest.fixture
def there(made: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Goes to the other host."""
    return lambda: monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "there"))


def job() -> Job:
    return Board(Console(quiet=True)).job("")


@pytest.mark.parametrize("place", ["usb", "ready.tar"])
def test_it_arrives_as_it_was(made: Checkpoint, there: Callable[[], None], tmp_path: Path, place: str) -> None:
    lies = export(STORE, "ready", tmp_path / place)
    assert lies.stat().st_blocks * 512 < 2_000_000
    there()
    assert take_in(STORE, lies) == ("ready-a", True)
    found = checkpoint.find("ready-a", made.manifest.key)
    assert found is not None and found.manifest == made.manifest and found.folder != made.folder
    assert checkpoint.verify(found) == "whole"
    assert (found.folder / SNAPSHOTS).read_text() == "windows"
    assert found.ram.read_bytes() == made.ram.read_bytes() and found.ram.stat().st_blocks * 512 < 2_000_000
    assert take_in(STORE, lies) == ("ready-a", False)
    assert {path.name for path in STORE.root().iterdir()} == {".lock", ".ready-a.lock", "ready-a", "ready-a.json"}


def test_it_waits_for_who_makes_it(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    """Else one would put its folder in the place of the other's, under whose manifest it would lie."""
    lies = export(STORE, "ready-a", tmp_path)
    there()
    STORE.root().mkdir()
    with (STORE.root() / ".ready-a.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        def end() -> None:
            shutil.copytree(made.folder, STORE.folder("ready-a"))
            STORE.record(made.manifest)
            fcntl.flock(lock, fcntl.LOCK_UN)

        assert take_in(STORE, lies, end) == ("ready-a", False)


def refused(source: Path) -> str:
    """The one sentence; nothing is in the store."""
    with pytest.raises(UserError) as caught:
        take_in(STORE, source)
    assert "\n" not in str(caught.value)
    assert not STORE.root().exists() or {path.name for path in STORE.root().iterdir()} <= {".lock", ".ready-a.lock"}
    return str(caught.value)


@pytest.mark.parametrize("file", [RAM_FILE, GUEST_STATE, SNAPSHOTS])
def test_a_byte_that_changed_on_the_way(made: Checkpoint, there: Callable[[], None], tmp_path: Path, file: str) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    content = (lies / file).read_bytes()
    (lies / file).write_bytes(content[:-1] + b"?")
    there()
    assert f"{file} differs from the file that was exported; copy the export again" in refused(lies)


def test_a_file_that_is_missing(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    (lies / GUEST_STATE).unlink()
    there()
    assert GUEST_STATE in refused(lies)
    (lies / EXPORT).unlink()
    assert f"{EXPORT}: is missing, so the export is incomplete" in refused(lies)


def test_a_tar_file_that_is_cut_short_or_none(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    lies = export(STORE, "ready-a", tmp_path / "ready.tar")
    lies.write_bytes(lies.read_bytes()[:3000])
    there()
    assert "ready.tar: " in refused(lies)
    lies.write_bytes(b"no tar file" * 100)
    assert "is not a tar file or is truncated" in refused(lies)


def test_a_file_that_would_lie_elsewhere(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    said = json.loads((lies / EXPORT).read_text())
    for place in ("../evil", "/evil", "a/../../evil"):
        changed = said | {"files": {**said["files"], place: said["files"][GUEST_STATE]}}
        (lies / EXPORT).write_text(json.dumps(changed))
        there()
        assert "names files outside the folder" in refused(lies)


def test_another_one_of_that_name_is_not_replaced(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    there()
    make(STORE.root(), "ready-a")
    said = json.loads((lies / EXPORT).read_text())
    said["manifest"]["files"][GUEST_STATE]["sha256"] = "0" * 64
    (lies / EXPORT).write_text(json.dumps(said))
    with pytest.raises(UserError, match=r"exists already with other content than .*, because two hosts built it"):
        take_in(STORE, lies)


def test_the_same_bytes_of_another_hour_are_the_same(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path
) -> None:
    """As of a capture that two hosts have recorded from one warm guest."""
    lies = export(STORE, "ready-a", tmp_path)
    there()
    make(STORE.root(), "ready-a")
    said = json.loads((lies / EXPORT).read_text())
    said["manifest"] |= {"created": "2001-01-01", "wall_s": 17.0}
    (lies / EXPORT).write_text(json.dumps(said))
    assert take_in(STORE, lies) == ("ready-a", False)


def test_what_is_damaged_or_unknown_is_not_exported(made: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no `raedy-a` in .*: allowed are ready-a \(did you mean ready-a\?\)"):
        export(STORE, "raedy-a", tmp_path)
    made.guest_state.write_bytes(b"stath")
    with pytest.raises(UserError, match="files have changed since s80lab wrote them; remove the folder"):
        export(STORE, "ready-a", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here"]


def test_a_place_that_is_taken(made: Checkpoint, tmp_path: Path) -> None:
    export(STORE, "ready-a", tmp_path)
    with pytest.raises(UserError, match="ready-a: the target exists already; remove it, or name another target"):
        export(STORE, "ready-a", tmp_path)


def test_without_a_stage_it_is_used_where_it_lies(made: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("S80LAB_STAGE", raising=False)
    assert asyncio.run(checkpoint.local(made, job())) == made


def test_a_stage_has_one_copy_hashed(made: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S80LAB_STAGE", str(tmp_path / "stage"))
    copy = asyncio.run(checkpoint.local(made, job()))
    assert copy.folder.parent == tmp_path / "stage" and copy.manifest == made.manifest
    assert {path.name: path.read_bytes() for path in copy.folder.iterdir()} == {
        path.name: path.read_bytes() for path in made.folder.iterdir()
    }
    before = copy.ram.stat().st_mtime_ns
    assert asyncio.run(checkpoint.local(made, job())).ram.stat().st_mtime_ns == before
    shutil.rmtree(copy.folder)
    made.guest_state.write_bytes(b"stath")
    with pytest.raises(UserError, match=r"the copy on the disk of .*stage.* has another hash than the file"):
        asyncio.run(checkpoint.local(made, job()))
    assert not copy.folder.exists()


def test_what_is_built_on_a_stage_lies_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "here"))
    monkeypatch.setenv("S80LAB_STAGE", str(tmp_path / "stage"))
    built = make(tmp_path / "here", "ready-b")
    assert checkpoint.verify(built) == "whole"
    assert [path.name for path in (tmp_path / "stage").iterdir()] == [".lock"]


def test_a_tar_file_begins_with_what_it_holds(made: Checkpoint, tmp_path: Path) -> None:
    with tarfile.open(export(STORE, "ready-a", tmp_path / "ready.tar")) as tar:
        assert tar.getnames()[0] == f"ready-a/{EXPORT}"
