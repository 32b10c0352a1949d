# SPDX-License-Identifier: GPL-2.0-or-later
"""SHA-256 of files, sparse files and structured values."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

CHUNK = 1 << 22


def file_hash(path: Path) -> str:
    """SHA-256 of the bytes of a file, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of a text in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def value_hash(value: Any) -> str:
    """SHA-256 of a JSON value, independent of the order of its keys."""
    return text_hash(json.dumps(value, sort_keys=True))


def sparse_hash(path: Path) -> str:
    """SHA-256 over the file's size and every block of CHUNK bytes that is not all zero, with its position.

    Files of equal content have equal hashes, wherever their holes are.
    """
    digest = hashlib.sha256()
    buffer, zeros = bytearray(CHUNK), bytes(CHUNK)
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        digest.update(str(size).encode())
        at = 0
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            at -= at % CHUNK
            file.seek(at)
            length = file.readinto(buffer)
            block = memoryview(buffer)[:length]
            if block != memoryview(zeros)[:length]:
                digest.update(f"@{at}:".encode())
                digest.update(block)
            at += CHUNK
    return digest.hexdigest()
