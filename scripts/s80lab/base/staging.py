# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders that appear whole or not at all, and locks between processes; both survive kill -9."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

PARTIAL = ".partial-"
POLL_S = 0.5


@contextmanager
def staging(final: Path) -> Iterator[Path]:
    """A partial folder beside `final`, renamed to it when the block ends well and removed when it does not.

    The folder is locked as long as its maker lives, so that `sweep` knows the dead ones.
    """
    final.parent.mkdir(parents=True, exist_ok=True)
    with _gate(final.parent):
        partial = Path(tempfile.mkdtemp(prefix=f"{PARTIAL}{final.name}-", dir=final.parent))
        partial.chmod(0o755)
        handle = os.open(partial, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield partial
        if final.exists():
            shutil.rmtree(final)
        partial.rename(final)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    finally:
        os.close(handle)


def sweep(folder: Path) -> list[Path]:
    """Removes the partial folders whose makers have died; returns them."""
    removed: list[Path] = []
    if not folder.is_dir():
        return removed
    with _gate(folder):
        for partial in sorted(folder.glob(f"{PARTIAL}*")):
            handle = os.open(partial, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            finally:
                os.close(handle)
            shutil.rmtree(partial, ignore_errors=True)
            removed.append(partial)
    return removed


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


@contextmanager
def _gate(folder: Path) -> Iterator[None]:
    """Nobody sweeps between another one's making and locking of a partial folder."""
    with (folder / ".lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
