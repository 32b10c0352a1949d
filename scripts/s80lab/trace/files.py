# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace files: written completely or not at all, and read with or without gzip or xz compression."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from s80lab.base.errors import UserError

_GZIP, _XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary path to write to. It is renamed to `path` if the block succeeds, and removed if the block fails."""
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        partial.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        partial.unlink(missing_ok=True)


def write(path: Path, content: bytes) -> None:
    """Writes a file completely or not at all, with gzip if its name ends in .gz (equal content gives equal bytes)."""
    with whole(path) as partial:
        partial.write_bytes(gzip.compress(content, 6, mtime=0) if path.suffix == ".gz" else content)


def read(path: Path) -> bytes:
    """The decompressed content of a file. UserError if the file cannot be read or is truncated."""
    try:
        raw = path.read_bytes()
        if raw.startswith(_GZIP):
            return gzip.decompress(raw)
        return lzma.decompress(raw) if raw.startswith(_XZ) else raw
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise UserError(
            f"{path}: cannot be decompressed, perhaps because the file is truncated ({error}); copy the file again"
        ) from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
