# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies on the host's own disk, which nobody but the batch system and its user empties. Recorded sizes and hashes:
every change of a file is detected, and a large file is hashed once per process."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from tests.base.test_staging import leave_partial

from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash
from s80lab.base.records import LARGE, is_unchanged, present_hash, record_file
from s80lab.base.stage import staged


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
