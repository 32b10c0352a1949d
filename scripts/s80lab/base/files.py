# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a user names on the command line: written completely or not at all, and never through a foreign link."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from s80lab.base.errors import UserError
from s80lab.base.paths import short_path
from s80lab.base.staging import file_locks, full_disk, scratch, working
from s80lab.base.terminal import quoted

_DESCRIPTOR = re.compile("/(?:proc/self|dev)/fd/([0-9]+)")
_SYSTEM = (Path("/dev"), Path("/proc"))


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary path to write to. It is renamed to `path` if the block succeeds, and removed if the block fails.

    The temporary path is in a new folder of its own beside `path`, so nobody else can have put a link or a file there.
    If the process is killed, the next call for a file in the same folder removes this temporary folder.
    If `path` is a device, a pipe or a link such as /dev/stdout, the content is written to it, and it stays what it is.
    Any other link is replaced by the file. UserError if the file cannot be written.
    """
    try:
        special = is_special(path)
        if not special:
            path.parent.mkdir(parents=True, exist_ok=True)
        with full_disk(path.parent), _temporary(None if special else path.parent) as folder:
            partial = Path(folder) / (path.name or "file")
            yield partial
            if special:
                with partial.open("rb") as source, _opened(path) as target:
                    shutil.copyfileobj(source, target)
            else:
                partial.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None
    except ValueError as error:  # a NUL in the path
        if "null byte" not in str(error):
            raise
        raise UserError(f"{str(path)!r}: cannot be written, because the name contains a NUL character") from None


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file completely or not at all; text in UTF-8. See `whole`."""
    with whole(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)


def create_file(path: Path, content: str) -> None:
    """Write a text file that does not exist yet, completely or not at all, with the folders around it.

    FileExistsError if the path exists. UserError if the file cannot be written; then new folders are removed again.
    """
    missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with full_disk(path.parent), _temporary(path.parent) as folder:
            partial = Path(folder) / "file"
            partial.write_text(content, encoding="utf-8")
            _name_new(partial, path)
    except BaseException as error:
        for new in missing:
            with suppress(OSError):
                new.rmdir()
        if isinstance(error, OSError) and not isinstance(error, FileExistsError):
            raise UserError(f"{path}: cannot be written ({error.strerror})") from None
        raise


def _name_new(partial: Path, path: Path) -> None:
    """Give a complete file its name. FileExistsError if the name is taken."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        partial.rename(path)


def read_regular(path: Path, most: int, remedy: str = "name another file") -> bytes:
    """The content of a file that `open_regular` accepts."""
    with open_regular(path, most, remedy) as file:
        return file.read(most)


@contextmanager
def open_regular(path: Path, most: int, remedy: str = "name another file") -> Iterator[BinaryIO]:
    """A regular file of at most `most` bytes, for reading. Kind and size are checked before any byte is read, so that a
    pipe cannot make the caller wait and no file can fill the memory.

    UserError if the file cannot be read, is not a regular file, or is larger. remedy: what to do then.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise UserError(f"{short_path(path)}: is a pipe or a device, not a file; {remedy}")
            if status.st_size > most:
                limit = f"{_limit(most)}, the limit for this kind of file"
                raise UserError(f"{short_path(path)}: is larger than {limit}; {remedy}")
            yield file
    except IsADirectoryError:
        raise UserError(f"{short_path(path)}: is a folder, not a file; {remedy}") from None
    except OSError as error:
        raise UserError(f"{short_path(path)}: cannot be read ({error.strerror}); {remedy}") from None


def _limit(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def _temporary(parent: Path | None) -> AbstractContextManager[Path | str]:
    """A new folder in `parent` (None: in the folder for temporary files), removed at the end of the block."""
    try:
        file_locks()
    except UserError:  # on such a system, nobody can know whether the maker of a folder still lives
        return tempfile.TemporaryDirectory(dir=parent)
    return working(parent) if parent else scratch()


def _opened(path: Path) -> BinaryIO:
    """A device, pipe or open file for writing. An open file of this process (/dev/stdout) keeps its position."""
    for name in (str(path), str(path.readlink()) if path.is_symlink() else ""):
        if found := _DESCRIPTOR.fullmatch(name):
            sys.stdout.flush()
            return open(int(found[1]), "wb", closefd=False)
    return path.open("wb")


def is_special(path: Path) -> bool:
    """Whether `path` exists and is not a file that may be replaced."""
    if path.is_symlink() and any(path.absolute().is_relative_to(folder) for folder in _SYSTEM):
        return True
    return path.exists() and not path.is_file()


MOST_BYTES = 128
"""Length of a name in UTF-8; names of runs contain it together with other words, within the file system's 255 bytes."""
RULE = (
    "a name begins with a letter, a digit or _, contains only letters, digits, blanks and . _ - + = , @, "
    f"and has at most {MOST_BYTES} bytes"
)
_NAME = re.compile(r"\w(?:[\w .+=,@-]*[\w.+=,@-])?")


def is_name(name: str) -> bool:
    """Whether a name can safely name a file or folder (RULE): no path, no option, no pattern, no control character."""
    return _NAME.fullmatch(name) is not None and len(name.encode()) <= MOST_BYTES


def check_name(name: str, where: str, remedy: str) -> str:
    """The name. UserError if `is_name` rejects it. where: what contains the name; remedy: what the user can do."""
    if not is_name(name):
        raise UserError(f"{where}: the name {quoted(name)} cannot name a file or folder ({RULE}); {remedy}")
    return name
