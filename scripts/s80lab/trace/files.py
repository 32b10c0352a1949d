# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of traces: written whole or not at all, read through gzip or xz where they are compressed."""

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
    """The path to write to: renamed to `path` when the block ends well, removed when it does not."""
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
    """Writes a file, whole or not at all; gzip where its name ends in .gz (the same bytes every time)."""
    with whole(path) as partial:
        partial.write_bytes(gzip.compress(content, 6, mtime=0) if path.suffix == ".gz" else content)


def read(path: Path) -> bytes:
    """A file's content, decompressed; UserError where it cannot be read or is truncated."""
    try:
        raw = path.read_bytes()
        if raw.startswith(_GZIP):
            return gzip.decompress(raw)
        return lzma.decompress(raw) if raw.startswith(_XZ) else raw
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise UserError(f"{path}: cannot be decompressed, perhaps it is truncated ({error})") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
