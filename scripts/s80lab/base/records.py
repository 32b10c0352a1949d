# SPDX-License-Identifier: GPL-2.0-or-later
"""Sizes and hashes of files in manifests, and the check that a file is still the one that was recorded.

What the check detects: every change that reaches a file through its file system, also one that keeps the size and the
time of modification (`cp -p`, `rsync -t`, `touch -r`), because the whole content is hashed. A process hashes a file of
LARGE bytes or more once; it hashes the file again only if device, inode, size, time of modification or time of change
(ctime) differ. No program can set the time of change, so a process also detects a change that comes after its first
check. It does not detect a block that a disk damages after the first check, a write to the block device below the file
system, or a manifest that was changed together with its files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from s80lab.base.hashing import file_hash
from s80lab.base.strict import Strict

LARGE = 64 << 20
"""Bytes from which a process hashes an unchanged file only once. Smaller files are hashed at each check."""

Hash = Callable[[Path], str]
_KNOWN: dict[tuple[Hash, tuple[int, ...]], str] = {}


class FileRecord(Strict):
    """Size and hash of a stored file."""

    bytes: int
    sha256: str


def present_hash(path: Path, hash: Hash = file_hash) -> str:
    """SHA-256 of the file's present content, as `hash` computes it. The module's docstring states the limits."""
    return hash(path) if path.stat().st_size < LARGE else known_hash(path, hash)


def known_hash(path: Path, hash: Hash = file_hash) -> str:
    """SHA-256 of a file of any size that a process hashes once, for inputs that thousands of designs share."""
    key = hash, _identity(path.stat())
    if key not in _KNOWN:
        _KNOWN[key] = hash(path)
    return _KNOWN[key]


def record_file(path: Path, hash: Hash = file_hash) -> FileRecord:
    """Size and hash of the file."""
    return FileRecord(bytes=path.stat().st_size, sha256=present_hash(path, hash))


def is_unchanged(path: Path, record: FileRecord, hash: Hash = file_hash) -> bool:
    """Whether the file exists and has the recorded size and hash."""
    return path.is_file() and path.stat().st_size == record.bytes and present_hash(path, hash) == record.sha256


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
