# SPDX-License-Identifier: GPL-2.0-or-later
"""Atomic folders, temporary folders and locks between processes. All of them survive kill -9.

Hosts may share the file system. A lock on a folder does not reach other hosts (NFS keeps such locks local), so the name
of a partial folder contains its host's name, and no other host removes the folder.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import ModuleType

from s80lab.base import host
from s80lab.base.errors import UserError
from s80lab.base.paths import short_path

PARTIAL = ".partial-"
POLL_S = 0.5
NEARLY_FULL = 1 << 20
"""Free bytes below which a failed write counts as caused by this disk."""


def file_locks() -> ModuleType:
    """Python's module fcntl. It is imported only here, so that commands without locks run on any system.

    UserError if the system has no file locks.
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        raise UserError("this command needs Linux: this system has no file locks (Python's module fcntl)") from None
    return fcntl


@contextmanager
def staging(final: Path) -> Iterator[Path]:
    """A partial folder next to `final`. It is renamed to `final` if the block succeeds, and removed if not.

    Remains of killed processes are removed first. If `final` is a symbolic link, the folder replaces the link; the
    link's target stays. The permissions of the folder obey the umask. UserError if the disk
    of the folder is full.
    """
    with full_disk(final.parent):
        final.parent.mkdir(parents=True, exist_ok=True)
        sweep(final.parent)
        with _partial(final.parent, f"{final.name}-", 0o777) as partial:
            yield partial
            if not os.path.lexists(final):
                partial.rename(final)
                return
            # A kill during the removal must not leave half of the old folder under its final name.
            with _partial(final.parent, f"{final.name}-", 0o777) as old:
                final.rename(old / final.name)
                partial.rename(final)


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Replace the system's error about a full disk by a UserError that names the disk: that of the file in the system's
    error, else that of `folder`, if it is full."""
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        # A failed copy names source and target; a failed write names no file.
        written = error.filename2 or error.filename
        if not written and error.errno == errno.ENOSPC and not nearly_full(folder):
            raise
        place = Path(os.fsdecode(written)).parent if written else folder
        raise UserError(full_sentence(place)) from None


def full_sentence(folder: Path) -> str:
    """What to do about a full disk."""
    return (
        f"{short_path(folder)}: the disk of this folder is full; remove files from this disk, or move the folder to "
        "another disk, then repeat the command"
    )


def nearly_full(folder: Path) -> bool:
    """Whether less than NEARLY_FULL bytes are free on the disk of the folder."""
    return shutil.disk_usage(folder).free < NEARLY_FULL


def is_full(error: OSError) -> bool:
    """Whether the error says that a disk or the user's share of a disk is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder with a short name, removed at the end. Remains of killed processes are removed first.

    UserError if the folder for temporary folders belongs to another user, or if the system has no file locks.
    """
    file_locks()  # a system without locks has no user numbers either
    root = Path(tempfile.gettempdir()) / f"s80lab-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    if root.is_symlink() or root.stat().st_uid != os.getuid():
        raise UserError(f"{root} belongs to another user: set TMPDIR to a folder of your own")
    with working(root) as folder:
        yield folder


@contextmanager
def working(root: Path) -> Iterator[Path]:
    """A folder in `root` that exists until the block ends, for this user only. Remains of killed processes are removed
    first."""
    sweep(root)
    with _partial(root, "", 0o700) as folder:
        yield folder


@contextmanager
def _partial(parent: Path, name: str, mode: int) -> Iterator[Path]:
    """A new folder, gone after the block unless it was renamed. It is locked as long as its maker lives, so that
    `sweep` knows the dead ones. mode: permissions, from which the umask takes some away."""
    partial, handle = _locked_folder(parent, name, mode)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        os.close(handle)


def _locked_folder(parent: Path, name: str, mode: int) -> tuple[Path, int]:
    """A new folder, and the open handle that keeps the lock on the folder."""
    fcntl = file_locks()
    while True:
        partial = parent / f"{PARTIAL}{name}{secrets.token_hex(4)}{_of_host()}"
        partial.mkdir(mode)
        with suppress(FileNotFoundError):  # `sweep` of another process removed the folder before it was locked
            handle = os.open(partial, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if partial.is_dir():
                return partial, handle
            os.close(handle)


def sweep(folder: Path) -> list[Path]:
    """Remove the partial folders of this host whose processes have died; return their paths."""
    if not folder.is_dir() or not lockable(folder):
        return []
    partials = [path for path in sorted(folder.glob(f"{PARTIAL}*")) if path.name.endswith(_of_host())]
    return [partial for partial in partials if _remove_dead(partial)]


def _remove_dead(partial: Path) -> bool:
    """Remove a partial folder if its maker is dead; return whether the folder was removed."""
    fcntl = file_locks()
    try:
        handle = os.open(partial, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # its maker has just removed or renamed it, or it belongs to another user
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The lock is kept until the folder is gone: a maker that waits for the lock then sees that the folder is gone.
        shutil.rmtree(partial)
    except OSError:  # its maker lives or has just renamed it, or another user owns its files
        return False
    finally:
        os.close(handle)
    return True


def _of_host() -> str:
    return f"@{host.name()}"


def tidy(say: Callable[[str], None], *folders: Path) -> None:
    """Remove partial folders of dead processes from these folders, and report each."""
    for folder in folders:
        for partial in sweep(folder):
            say(f"removed remains of an interrupted process: {partial.name}")


@asynccontextmanager
async def exclusive(path: Path, waiting: Callable[[], None]) -> AsyncIterator[bool]:
    """Hold the lock file `path`. Yields True if another process held the lock first; then `waiting` is called once."""
    fcntl = file_locks()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        waited = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not waited:
                    waiting()
                    waited = True
                await asyncio.sleep(POLL_S)
        yield waited


def lockable(path: Path) -> bool:
    """Whether the lock file or folder can be written. In a read-only folder of another user it cannot."""
    return os.access(
        path if path.exists() else path.parent, os.W_OK, effective_ids=os.access in os.supports_effective_ids
    )


@contextmanager
def held(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file `path`, like `exclusive`, outside of coroutines."""
    fcntl = file_locks()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
