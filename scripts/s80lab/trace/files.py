# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace files: written completely or not at all, and read with or without gzip or xz compression."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import select
import stat
import zlib
from pathlib import Path
from typing import IO

from s80lab.base.errors import UserError
from s80lab.base.files import write_file
from s80lab.base.hashing import CHUNK

_GZIP, _XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"
LARGEST = 1 << 29
"""Largest size of a trace file in bytes, decompressed: all accesses are held in memory, at several times this size."""
PIPE_WAIT_S = 10
"""Seconds after which a pipe into which no program writes is given up."""
XZ_MEMORY = 1 << 28
"""Bytes that the decompression of an xz file may use; `xz -9` needs 65 MiB."""


def write(path: Path, content: bytes) -> None:
    """Writes a file completely or not at all, with gzip if its name ends in .gz (equal content gives equal bytes)."""
    write_file(path, gzip.compress(content, 6, mtime=0) if path.suffix == ".gz" else content)


def read(path: Path, most: int = LARGEST) -> bytes:
    """The decompressed content of a file. UserError if the file cannot be read, is truncated or exceeds `most` bytes.

    No file makes this function use much more than twice `most` bytes of memory.
    """
    content = _read(path, most + 1)
    if len(content) > most:
        raise UserError(
            f"{path}: contains more than {most >> 20} MiB, the limit for this format; cut the trace into smaller files"
        )
    return content


def head(path: Path, length: int) -> bytes:
    """The first `length` decompressed bytes of a file. UserError as for `read`."""
    return _read(path, length)


def _read(path: Path, most: int) -> bytes:
    """The first `most` decompressed bytes at most."""
    try:
        with _opened(path) as file:
            start = file.read(len(_XZ))
            file.seek(0)
            if start.startswith(_GZIP):
                with gzip.GzipFile(fileobj=file) as unpacked:
                    return _bounded(unpacked, most)
            if start.startswith(_XZ):
                return _unxz(_bounded(file, LARGEST), most)
            return _bounded(file, most)
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise UserError(
            f"{path}: cannot be decompressed, perhaps because the file is truncated ({error}); copy the file again"
        ) from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def _opened(path: Path) -> IO[bytes]:
    """The file, or the bounded content of a pipe. UserError for any other kind of file."""
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        with _opened_pipe(path) as pipe:
            return io.BytesIO(_bounded(pipe, LARGEST + 1))
    if not stat.S_ISREG(mode):
        raise UserError(f"{path}: is a folder or a device, not a file or a pipe; name the file of a trace")
    return path.open("rb")


def _opened_pipe(path: Path) -> IO[bytes]:
    """A pipe for reading. UserError if no program writes into it: to open such a pipe would wait for ever."""
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    if not waiting.poll(PIPE_WAIT_S * 1000):
        try:
            written = os.read(pipe, 1) != b""
        except BlockingIOError:  # a program has opened the pipe and writes later
            written = True
        if not written:
            os.close(pipe)
            raise UserError(
                f"{path}: no program has written into this pipe for {PIPE_WAIT_S} s; start the program first"
            )
    os.set_blocking(pipe, True)
    return os.fdopen(pipe, "rb")


def _bounded(file: IO[bytes] | gzip.GzipFile, most: int) -> bytes:
    """The first `most` bytes of a file. A single read of `most` bytes would reserve memory for all of them."""
    parts = []
    while most and (part := file.read(min(most, CHUNK))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _unxz(packed: bytes, most: int) -> bytes:
    """The first `most` bytes of a file of one or more xz streams, with bounded memory."""
    parts: list[bytes] = []
    while packed and most:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, XZ_MEMORY)
        parts.append(stream.decompress(packed, most))
        most -= len(parts[-1])
        if most and not stream.eof:
            raise EOFError("the compressed data end too early")
        packed = stream.unused_data.lstrip(b"\0")
    return b"".join(parts)
