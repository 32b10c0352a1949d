# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded sizes and hashes: every change of a file is detected, and a large file is hashed once per process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from s80lab.base.hashing import file_hash
from s80lab.base.records import LARGE, is_unchanged, present_hash, record_file


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
