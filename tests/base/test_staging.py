# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders appear whole or not at all, also when their maker is killed. Copies on the host's own disk, which nobody but
the batch system and its user empties. Recorded sizes and hashes: every change of a file is detected, and a large file
is hashed once per process."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from tests.lab import LIMIT_S

from s80lab.base import host
from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.records import LARGE, is_unchanged, present_hash, record_file
from s80lab.base.stage import staged
from s80lab.base.staging import exclusive, full_disk, scratch, staging, sweep
from s80lab.base.threads import to_its_end

HOLDER = """
import sys
from pathlib import Path
from s80lab.base.staging import staging
with staging(Path(sys.argv[1])) as partial:
    (partial / "half").write_text("x")
    print("inside", flush=True)
    sys.stdin.read()
"""

REPLACER = """
import os, signal, sys
from pathlib import Path
from s80lab.base.staging import staging
removed = []
def watch(event, arguments):
    if event == "os.remove":
        removed.append(arguments)
        if len(removed) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
with staging(Path(sys.argv[1])) as partial:
    (partial / "new").write_text("new")
    sys.addaudithook(watch)
"""


def leave_partial(final: Path) -> None:
    """As a process does that is killed while it makes this folder."""
    words = [sys.executable, "-c", HOLDER, str(final)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout is not None and maker.stdout.readline() == "inside\n"
        maker.kill()
    assert list(final.parent.glob(f".partial-{final.name}-*"))


SWEPT = """
import os, shutil, sys
from pathlib import Path
from s80lab.base.staging import PARTIAL, staging
final, moment = Path(sys.argv[1]), sys.argv[2]
removed = []
def watch(event, arguments):
    if event == moment and not removed:
        removed.extend(final.parent.glob(f"{PARTIAL}*"))
        for folder in removed:
            shutil.rmtree(folder)
sys.addaudithook(watch)
with staging(final) as partial:
    assert removed and partial not in removed
    (partial / "file").write_text("x")
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_staged_folder_appears_when_complete(tmp_path: Path) -> None:
    with staging(tmp_path / "run") as partial:
        (partial / "file").write_text("x")
        assert not (tmp_path / "run").exists()
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["file"]


def test_failed_staging_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), staging(tmp_path / "run"):
        raise RuntimeError
    assert names(tmp_path) == []


def test_second_staged_folder_replaces_the_first(tmp_path: Path) -> None:
    for text in ("old", "new"):
        with staging(tmp_path / "run") as partial:
            (partial / text).write_text(text)
    assert names(tmp_path / "run") == ["new"]


def test_killed_replacement_leaves_no_half_removed_folder(tmp_path: Path) -> None:
    """The process kills itself when it removes its second file."""
    (tmp_path / "run").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "run" / name).write_text("old")
    done = subprocess.run([sys.executable, "-c", REPLACER, tmp_path / "run"], timeout=LIMIT_S)
    assert done.returncode == -signal.SIGKILL
    assert names(tmp_path / "run") == ["new"]
    with staging(tmp_path / "other"):
        pass
    assert names(tmp_path) == ["other", "run"]


def test_partial_folder_of_a_killed_process_is_removed_and_that_of_a_live_one_kept(tmp_path: Path) -> None:
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER, tmp_path / name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in ("dead", "alive")
    ]
    try:
        for maker in makers:
            assert maker.stdout is not None and maker.stdout.readline() == "inside\n"
        makers[0].send_signal(signal.SIGKILL)
        makers[0].wait()
        assert [path.name.startswith(".partial-dead-") for path in sweep(tmp_path)] == [True]
        assert [name.startswith(".partial-alive-") for name in names(tmp_path)] == [True]
    finally:
        for maker in makers:
            maker.kill()
            maker.communicate()


@pytest.mark.parametrize("moment", ["open", "fcntl.flock"])
def test_staging_makes_another_folder_if_the_first_was_swept_before_its_lock(tmp_path: Path, moment: str) -> None:
    """The process removes the folder itself, between the calls that make the folder and that lock it."""
    subprocess.run([sys.executable, "-c", SWEPT, tmp_path / "run", moment], check=True, timeout=LIMIT_S)
    assert names(tmp_path) == ["run"] and names(tmp_path / "run") == ["file"]


@pytest.mark.parametrize("target", ["folder", "missing"])
def test_staging_replaces_a_link_and_keeps_its_target(tmp_path: Path, target: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("precious")
    final = tmp_path / "runs" / "run"
    final.parent.mkdir()
    final.symlink_to(tmp_path / target)
    with staging(final) as partial:
        (partial / "new").write_text("new")
    assert not final.is_symlink() and names(final) == ["new"] and names(final.parent) == ["run"]
    assert (tmp_path / "folder" / "file").read_text() == "precious" and names(tmp_path) == ["folder", "runs"]


def test_sweep_does_not_touch_a_link_with_the_name_of_a_partial_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / f".partial-abcdefgh@{host.name()}").symlink_to(tmp_path / "folder")
    assert sweep(tmp_path) == [] and (tmp_path / "folder").is_dir()


def test_partial_folder_of_a_different_host_is_kept(tmp_path: Path) -> None:
    """Whose lock may not be seen here."""
    (tmp_path / ".partial-run-abcdefgh@elsewhere").mkdir()
    assert sweep(tmp_path) == []
    with staging(tmp_path / "run") as partial:
        assert partial.name.endswith(f"@{host.name()}")
    assert names(tmp_path) == [".partial-run-abcdefgh@elsewhere", "run"]


def test_second_holder_of_a_lock_reports_and_waits(tmp_path: Path) -> None:
    order: list[str] = []

    async def hold(name: str, seconds: float) -> None:
        async with exclusive(tmp_path / "lock", lambda: order.append(f"{name} waits")):
            order.append(name)
            await asyncio.sleep(seconds)

    async def both() -> None:
        await asyncio.gather(hold("first", 0.1), hold("second", 0))

    asyncio.run(both())
    assert order == ["first", "second waits", "second"]


SCRATCH = """
import sys
from s80lab.base.staging import scratch
with scratch() as folder:
    (folder / "socket").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_scratch_folder_is_removed_at_its_end_or_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", SCRATCH]
    maker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    with maker:
        assert maker.stdout is not None
        left = Path(maker.stdout.readline().strip())
        with scratch() as mine:
            assert mine.parent == left.parent and (left / "socket").is_file()
        assert not mine.exists()
        maker.kill()
    assert left.exists()
    with scratch():
        assert not left.exists()


def test_scratch_folder_of_a_different_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"s80lab-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="belongs to another user: set TMPDIR"), scratch():
        pass


def test_interruption_waits_for_a_writing_thread(tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def write(folder: Path) -> None:
        begun.set()
        assert go_on.wait(LIMIT_S)
        folder.mkdir(exist_ok=True)
        (folder / "late").write_text("x")

    async def work() -> None:
        with staging(tmp_path / "run") as partial:
            await to_its_end(write, partial)

    async def interrupted() -> None:
        task = asyncio.create_task(work())
        await asyncio.to_thread(begun.wait, LIMIT_S)
        task.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    assert names(tmp_path) == []


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o755), (0o077, 0o700), (0o027, 0o750)])
def test_staged_folder_obeys_the_umask(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        with staging(tmp_path / "run"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "run").stat().st_mode & 0o777 == mode


def test_full_disk_of_a_copy_is_that_of_the_target(tmp_path: Path) -> None:
    """The error of shutil.copyfile names the source first."""
    full = OSError(errno.ENOSPC, "No space left on device", "/checkpoints/a", None, str(tmp_path / "run" / "a"))
    sentence = f"^{tmp_path / 'run'}: the disk of this folder is full; remove files"
    with pytest.raises(UserError, match=sentence), staging(tmp_path / "run"):
        raise full
    assert names(tmp_path) == []


def test_full_disk_of_another_folder_is_not_blamed_on_this_one(tmp_path: Path) -> None:
    """A failed write names no file, and the disk of this folder has room."""
    with pytest.raises(OSError, match="No space left on device"), full_disk(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "stage").mkdir()
    monkeypatch.setenv("S80LAB_STAGE", str(tmp_path / "stage"))
    return tmp_path / "stage"


def copy(folder: Path) -> Path:
    """Of a folder of two files."""
    folder.mkdir(exist_ok=True)
    for name in ("one", "two"):
        (folder / name).write_text(name)
    hashes = {name: file_hash(folder / name) for name in ("one", "two")}
    return asyncio.run(staged(folder, "key", hashes, file_hash, lambda: None))


def test_copy_removes_remains_of_a_killed_copy(stage: Path, tmp_path: Path) -> None:
    """It may be gigabytes of a guest's memory."""
    leave_partial(stage / "dead")
    copy(tmp_path / "source")
    assert not list(stage.glob(".partial-*"))


def test_incomplete_copy_is_copied_again(stage: Path, tmp_path: Path) -> None:
    """As hosts do with old files on such disks."""
    made = copy(tmp_path / "source")
    (made / "two").unlink()
    assert copy(tmp_path / "source") == made
    assert (made / "two").read_text() == "two"


def test_copy_that_has_changed_is_refused(stage: Path, tmp_path: Path) -> None:
    final = copy(tmp_path / "source")
    (final / "two").write_text("owt")
    with pytest.raises(
        UserError, match=r"two: this copy has changed since s80lab made it; remove the folder .*source-"
    ):
        copy(tmp_path / "source")


def flip_last_byte(path: Path) -> None:
    """Change one bit and keep the size and the time of modification, as a bad disk, `cp -p` and `rsync -t` do."""
    status = path.stat()
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        (last,) = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("size", [5, LARGE])
def test_flipped_bit_with_kept_time_is_detected(tmp_path: Path, size: int) -> None:
    path = tmp_path / "ram.img"
    path.write_bytes(bytes(size))
    record = record_file(path)
    assert record.bytes == size and is_unchanged(path, record)
    flip_last_byte(path)
    assert not is_unchanged(path, record)
    flip_last_byte(path)
    assert is_unchanged(path, record)


def test_missing_and_truncated_files_are_not_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    path.write_text("{}")
    record = record_file(path)
    path.write_text("{")
    assert not is_unchanged(path, record)
    path.unlink()
    assert not is_unchanged(path, record)


@pytest.mark.parametrize(("size", "times"), [(5, 2), (LARGE, 1)])
def test_large_file_is_hashed_once(tmp_path: Path, size: int, times: int) -> None:
    path = tmp_path / "ram.img"
    path.write_bytes(bytes(size))
    hashed: list[Path] = []

    def counting(file: Path) -> str:
        hashed.append(file)
        return file_hash(file)

    assert present_hash(path, counting) == present_hash(path, counting) == file_hash(path)
    assert hashed == [path] * times
