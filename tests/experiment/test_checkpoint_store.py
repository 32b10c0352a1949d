# SPDX-License-Identifier: GPL-2.0-or-later
"""The store of checkpoints: a stale or damaged one is never taken for a good one. Checkpoints that go to another host,
and to its own disk: the same bytes or one sentence, holes kept."""

from __future__ import annotations

import asyncio
import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from rich.console import Console
from tests.base.test_staging import flip_last_byte
from tests.lab import LIMIT_S, Lab

from s80lab.base import transfer
from s80lab.base.errors import UserError
from s80lab.base.hashing import sparse_hash, value_hash
from s80lab.base.progress import Board, Job
from s80lab.base.staging import tidy
from s80lab.base.transfer import EXPORT, export, take_in
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import GUEST_STATE, MODEL_STATE, STORE, Checkpoint, Stage
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
    assert STORE.verify(made.manifest) == "whole"


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
    assert STORE.verify(made.manifest) == "damaged"
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
    assert [STORE.verify(old.manifest) for old in checkpoint.all_checkpoints()] == ["outdated"]
    said = io.StringIO()
    assert STORE.verify(make(store, "warm-a", said).manifest) == "whole"
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
    assert STORE.verify(make(store, "ready-a", said).manifest) == "whole"
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
    assert STORE.verify(empty.manifest) == "missing" and not checkpoint.STORE.present(empty.manifest)
    assert checkpoint.find("ready-a", made.manifest.key) is None
    with pytest.raises(UserError, match="there is no `ready-a`"):
        export(checkpoint.STORE, "ready-a", store.parent / "exported")
    assert STORE.verify(make(store, "ready-a").manifest) == "whole"


def test_checkpoint_without_guest_state_is_missing(store: Path) -> None:
    made = make(store, "ready-a")
    made.guest_state.unlink()
    assert checkpoint.find("ready-a", made.manifest.key) is None
    assert STORE.verify(made.manifest) == "missing"


@pytest.mark.parametrize("name", [RAM_FILE, GUEST_STATE])
def test_checkpoint_with_changed_byte_is_damaged(store: Path, name: str) -> None:
    made = make(store, "ready-a")
    with (made.folder / name).open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"!")
    assert STORE.verify(made.manifest) == "damaged"


def test_checkpoint_with_changed_manifest_is_damaged(store: Path) -> None:
    made = make(store, "ready-a")
    manifest = made.manifest.model_copy(update={"inputs": {"kernel": "9"}})
    assert STORE.verify(manifest) == "damaged"


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
    assert [name for name, _ in STORE.prune({"ready-b"})] == ["ready-a"]
    assert checkpoint.all_checkpoints() == [kept]
    assert sorted(path.name for path in store.iterdir() if path.is_dir()) == ["ready-b"]


def test_checkpoint_manifest_with_wrong_name_is_ignored_and_removes_no_file(store: Path) -> None:
    make(store, "ready-a")
    victim = store.parent / "victim.json"
    victim.write_text("kept")
    manifest = store / "ready-a.json"
    manifest.write_text(manifest.read_text().replace('"ready-a"', '"../victim"'))
    assert checkpoint.all_checkpoints() == []
    STORE.prune(set())
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


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkpoint:
    """A checkpoint with a file that its manifest does not hash, as the warm ones have."""
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "here"))
    checkpoint = make(tmp_path / "here", "ready-a")
    (checkpoint.folder / SNAPSHOTS).write_text("intervals")
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
def test_exported_checkpoint_is_imported_unchanged(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path, place: str
) -> None:
    lies = export(STORE, "ready", tmp_path / place)
    assert lies.stat().st_blocks * 512 < 2_000_000
    there()
    assert take_in(STORE, lies) == (made.manifest, True)
    found = checkpoint.find("ready-a", made.manifest.key)
    assert found is not None and found.manifest == made.manifest and found.folder != made.folder
    assert STORE.verify(found.manifest) == "whole"
    assert (found.folder / SNAPSHOTS).read_text() == "intervals"
    assert found.ram.read_bytes() == made.ram.read_bytes() and found.ram.stat().st_blocks * 512 < 2_000_000
    assert take_in(STORE, lies) == (made.manifest, False)
    assert {path.name for path in STORE.root().iterdir()} == {".ready-a.lock", "ready-a", "ready-a.json"}


KILLED = """
import os, signal, sys
from pathlib import Path
from s80lab.base.transfer import export
from s80lab.experiment.checkpoint import STORE
def watch(event, arguments):
    if event == "os.rename":
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(watch)
export(STORE, "ready-a", Path(sys.argv[1]))
"""


@pytest.mark.parametrize("place", ["usb", "usb/ready.tar"])
def test_export_removes_remains_of_a_killed_export(made: Checkpoint, tmp_path: Path, place: str) -> None:
    """The process kills itself when it gives the export its name."""
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / place], timeout=LIMIT_S)
    assert done.returncode == -signal.SIGKILL
    left = list((tmp_path / "usb").iterdir())
    assert len(left) == 1 and not (tmp_path / place).is_file()
    lies = export(STORE, "ready-a", tmp_path / place)
    assert list((tmp_path / "usb").iterdir()) == [lies]


def test_import_waits_for_the_builder_of_the_checkpoint(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path
) -> None:
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

        assert take_in(STORE, lies, end) == (made.manifest, False)


def refused(source: Path) -> str:
    """The one sentence; nothing is in the store."""
    with pytest.raises(UserError) as caught:
        take_in(STORE, source)
    assert "\n" not in str(caught.value)
    assert not STORE.root().exists() or {path.name for path in STORE.root().iterdir()} <= {".ready-a.lock"}
    return str(caught.value)


@pytest.mark.parametrize("file", [RAM_FILE, GUEST_STATE, SNAPSHOTS])
def test_import_with_changed_byte_is_refused(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path, file: str
) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    content = (lies / file).read_bytes()
    (lies / file).write_bytes(content[:-1] + b"?")
    there()
    assert f"{file} differs from the file that was exported; copy the export again" in refused(lies)


def test_import_with_missing_file_is_refused(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    (lies / GUEST_STATE).unlink()
    there()
    assert GUEST_STATE in refused(lies)
    (lies / EXPORT).unlink()
    assert f"{EXPORT}: is missing, so the export is incomplete" in refused(lies)


def test_import_of_truncated_or_invalid_tar_file_is_refused(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path
) -> None:
    lies = export(STORE, "ready-a", tmp_path / "ready.tar")
    lies.write_bytes(lies.read_bytes()[:3000])
    there()
    assert "ready.tar: " in refused(lies)
    lies.write_bytes(b"no tar file" * 100)
    assert "is not a tar file or is truncated" in refused(lies)


def test_import_with_path_outside_the_folder_is_refused(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path
) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    said = json.loads((lies / EXPORT).read_text())
    for place in ("../evil", "/evil", "a/../../evil"):
        changed = said | {"files": {**said["files"], place: said["files"][GUEST_STATE]}}
        (lies / EXPORT).write_text(json.dumps(changed))
        there()
        assert "names files outside the folder" in refused(lies)


@pytest.mark.parametrize(
    "name", ["a\nb", "*", "-rf", "evil.json", "nul\x01", "nul\0", "../evil", "a/b", ".hidden", "", "\x1b[2J", "a" * 200]
)
def test_take_in_odd_name_of_an_entry_is_refused(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path, name: str
) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    said = json.loads((lies / EXPORT).read_text())
    said["manifest"]["name"] = name
    (lies / EXPORT).write_text(json.dumps(said))
    there()
    assert "do not import this export" in refused(lies)


@pytest.mark.parametrize("name", ["nul\0", "a\nb", "-rf", "a/-rf", ".hidden"])
def test_take_in_odd_name_of_a_file_is_refused(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path, name: str
) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    said = json.loads((lies / EXPORT).read_text())
    said["files"][name] = said["files"][GUEST_STATE]
    (lies / EXPORT).write_text(json.dumps(said))
    there()
    assert "names files outside the folder, or names that s80lab does not give" in refused(lies)


def test_take_in_manifest_without_files_is_refused(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    said = json.loads((lies / EXPORT).read_text())
    said["manifest"]["files"] = said["files"] = {}
    (lies / EXPORT).write_text(json.dumps(said))
    there()
    assert "lists no file" in refused(lies)


@pytest.mark.parametrize("file", [GUEST_STATE, EXPORT])
def test_take_in_pipe_link_or_device_is_refused_without_reading(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path, file: str
) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    there()
    (lies / file).unlink()
    os.mkfifo(lies / file)
    assert f"{file}: is not a regular file" in refused(lies)
    (lies / file).unlink()
    (lies / file).symlink_to("/dev/zero")
    assert f"{file}: is not a regular file" in refused(lies)


def test_take_in_folder_that_is_a_link_is_refused(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("secret")
    (made.folder / "more").mkdir()
    (made.folder / "more" / "key").write_text("secret")
    lies = export(STORE, "ready-a", tmp_path)
    shutil.rmtree(lies / "more")
    (lies / "more").symlink_to(tmp_path / "private")
    there()
    assert "is behind a link" in refused(lies)


@pytest.mark.parametrize("place", ["usb", "ready.tar"])
def test_take_in_file_of_another_length_is_refused_before_it_is_read(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hole of 8 TiB takes no space, but hours to read."""
    monkeypatch.setattr(transfer, "write_sparse", None)
    lies = export(STORE, "ready-a", tmp_path / place)
    there()
    if lies.is_dir():
        os.truncate(lies / RAM_FILE, 8 << 40)
    else:
        again = tmp_path / "again" / "ready-a"
        (tmp_path / "again").mkdir()
        subprocess.run(["tar", "--extract", "--file", str(lies), "--directory", str(tmp_path / "again")], check=True)
        said = json.loads((again / EXPORT).read_text())
        (again / EXPORT).write_text(json.dumps(said | {"files": {RAM_FILE: said["files"][RAM_FILE]}}))
        os.truncate(again / RAM_FILE, 8 << 40)
        command = ["tar", "--create", "--sparse", "--file", str(lies), "--directory", str(tmp_path / "again")]
        subprocess.run([*command, f"ready-a/{EXPORT}", f"ready-a/{RAM_FILE}"], check=True)
    assert f"{RAM_FILE} differs from the file that was exported" in refused(lies)


def test_take_in_huge_export_json_is_refused(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    os.truncate(lies / EXPORT, 100 << 30)
    there()
    assert "has 107374182400 bytes, but the limit is 16 MiB" in refused(lies)


def test_take_in_absurd_recorded_length_is_refused(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    said = json.loads((lies / EXPORT).read_text())
    said["files"][RAM_FILE]["bytes"] = 8 << 40
    (lies / EXPORT).write_text(json.dumps(said))
    os.truncate(lies / RAM_FILE, 8 << 40)
    there()
    assert "lists a file of more than 256 GiB" in refused(lies)


def test_take_in_pipe_as_tar_file_is_refused(made: Checkpoint, there: Callable[[], None], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.tar")
    there()
    assert "there is no such file" in refused(tmp_path / "x.tar")


def test_export_tar_does_not_follow_a_link_beside_the_target(made: Checkpoint, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "ready.tar.partial").symlink_to(tmp_path / "victim")
    export(STORE, "ready-a", tmp_path / "ready.tar")
    assert (tmp_path / "victim").read_text() == "precious"


def test_prune_link_to_a_folder_removes_only_the_link(made: Checkpoint, tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("secret")
    (STORE.root() / "a-link").symlink_to(tmp_path / "private")
    (STORE.root() / "stray").mkdir()
    STORE.prune({"ready-a"})
    assert {path.name for path in STORE.root().iterdir()} >= {"ready-a", "ready-a.json"}
    assert not (STORE.root() / "a-link").is_symlink() and not (STORE.root() / "stray").exists()
    assert (tmp_path / "private" / "key").read_text() == "secret"


def test_import_replaces_no_different_checkpoint_of_that_name(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path
) -> None:
    lies = export(STORE, "ready-a", tmp_path)
    there()
    make(STORE.root(), "ready-a")
    said = json.loads((lies / EXPORT).read_text())
    said["manifest"]["files"][GUEST_STATE]["sha256"] = "0" * 64
    (lies / EXPORT).write_text(json.dumps(said))
    with pytest.raises(UserError, match=r"exists already with other content than .*, because two hosts built it"):
        take_in(STORE, lies)


def test_import_of_equal_bytes_with_other_date_is_accepted(
    made: Checkpoint, there: Callable[[], None], tmp_path: Path
) -> None:
    """As of a capture that two hosts have recorded from one warm guest."""
    lies = export(STORE, "ready-a", tmp_path)
    there()
    make(STORE.root(), "ready-a")
    said = json.loads((lies / EXPORT).read_text())
    said["manifest"] |= {"created": "2001-01-01", "wall_s": 17.0}
    (lies / EXPORT).write_text(json.dumps(said))
    assert not take_in(STORE, lies)[1]


def test_export_of_damaged_or_unknown_checkpoint_is_refused(made: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no `raedy-a` in .*: did you mean ready-a\? \(allowed are ready-a\)"):
        export(STORE, "raedy-a", tmp_path)
    made.guest_state.write_bytes(b"stath")
    with pytest.raises(UserError, match="files have changed since s80lab wrote them; remove the folder"):
        export(STORE, "ready-a", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here"]


def test_export_to_existing_target_is_refused(made: Checkpoint, tmp_path: Path) -> None:
    export(STORE, "ready-a", tmp_path)
    with pytest.raises(UserError, match="ready-a: the target exists already; remove it, or name another target"):
        export(STORE, "ready-a", tmp_path)


def test_checkpoint_without_stage_is_used_in_place(made: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("S80LAB_STAGE", raising=False)
    assert asyncio.run(checkpoint.local(made, job())) == made


def test_stage_has_one_verified_copy_of_the_checkpoint(
    made: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_checkpoint_built_with_a_stage_is_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "here"))
    monkeypatch.setenv("S80LAB_STAGE", str(tmp_path / "stage"))
    built = make(tmp_path / "here", "ready-b")
    assert STORE.verify(built.manifest) == "whole"
    assert list((tmp_path / "stage").iterdir()) == []


def test_exported_tar_file_begins_with_the_export_manifest(made: Checkpoint, tmp_path: Path) -> None:
    with tarfile.open(export(STORE, "ready-a", tmp_path / "ready.tar")) as tar:
        assert tar.getnames()[0] == f"ready-a/{EXPORT}"
