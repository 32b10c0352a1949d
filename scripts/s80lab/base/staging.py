# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders that appear whole or not at all, folders for what is short-lived, and locks between processes; all of them
survive kill -9.

Hosts may share the file system. Locks on folders do not reach from one host to the next (NFS keeps them to itself), so
a partial folder carries its host's name, and no other host removes it.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from s80lab.base import host
from s80lab.base.errors import UserError

PARTIAL = ".partial-"
POLL_S = 0.5


@contextmanager
def staging(final: Path) -> Iterator[Path]:
    """A partial folder beside `final`, renamed to it when the block ends well and removed when it does not."""
    final.parent.mkdir(parents=True, exist_ok=True)
    with _partial(final.parent, f"{final.name}-") as partial:
        partial.chmod(0o755)
        yield partial
        if final.exists():
            shutil.rmtree(final)
        partial.rename(final)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder of a short name among the temporary files, removed at the end; what killed processes left there is
    removed first. UserError where another user has taken its place."""
    root = Path(tempfile.gettempdir()) / f"s80lab-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    if root.is_symlink() or root.stat().st_uid != os.getuid():
        raise UserError(f"{root} belongs to somebody else: set TMPDIR to a folder of your own")
    with working(root) as folder:
        yield folder


@contextmanager
def working(root: Path) -> Iterator[Path]:
    """A folder in `root` as long as the block; what killed processes left there is removed first."""
    sweep(root)
    with _partial(root, "") as folder:
        yield folder


@contextmanager
def _partial(parent: Path, name: str) -> Iterator[Path]:
    """A new folder, gone after the block unless it was renamed. It is locked as long as its maker lives, so that
    `sweep` knows the dead ones."""
    with _gate(parent):
        partial = Path(tempfile.mkdtemp(prefix=f"{PARTIAL}{name}", suffix=_of_host(), dir=parent))
        handle = os.open(partial, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        os.close(handle)


def sweep(folder: Path) -> list[Path]:
    """Removes the partial folders of this host whose makers have died; returns them."""
    removed: list[Path] = []
    if not folder.is_dir() or not lockable(folder / ".lock"):
        return removed
    with _gate(folder):
        for partial in sorted(folder.glob(f"{PARTIAL}*")):
            if not partial.name.endswith(_of_host()):
                continue
            try:
                handle = os.open(partial, os.O_RDONLY)
            except FileNotFoundError:  # its maker has just removed or renamed it
                continue
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            finally:
                os.close(handle)
            shutil.rmtree(partial, ignore_errors=True)
            removed.append(partial)
    return removed


def _of_host() -> str:
    return f"@{host.name()}"


def tidy(say: Callable[[str], None], *folders: Path) -> None:
    """Sweeps the folders and says what was there."""
    for folder in folders:
        for partial in sweep(folder):
            say(f"removed what an interrupted process had left: {partial.name}")


@asynccontextmanager
async def exclusive(path: Path, waiting: Callable[[], None]) -> AsyncIterator[bool]:
    """Holds the lock file `path`; calls `waiting` once when another process has it, and tells whether one had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    waiting()
                    told = True
                await asyncio.sleep(POLL_S)
        yield told


def lockable(path: Path) -> bool:
    """Whether the lock file can be held: it cannot in a folder of somebody else's, which is only read."""
    return os.access(path if path.exists() else path.parent, os.W_OK, effective_ids=True)


@contextmanager
def held(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """As `exclusive`, for what is no coroutine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _gate(folder: Path) -> Iterator[None]:
    """Nobody sweeps between another one's making and locking of a partial folder."""
    with held(folder / ".lock", lambda: None):
        yield
