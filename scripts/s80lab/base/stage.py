# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of sparse files such as a guest's RAM, and of checkpoints and captures on the host's own disk ($S80LAB_STAGE;
without it, the latter are not copied).

A guest's RAM is read page by page, and every replay reads a capture. On a file system that many hosts share, both
accesses are slow, and they slow down the other hosts. The copies stay until the batch system or the user removes the
folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.hashing import CHUNK
from s80lab.base.records import Hash, present_hash
from s80lab.base.staging import exclusive, staging, sweep, working
from s80lab.base.strict import short_path


async def sparse_copy(source: Path, target: Path) -> None:
    """Copy a file without filling its holes. UserError if the copy fails, for example on a full disk."""
    command = ["cp", "--reflink=auto", "--sparse=auto", str(source), str(target)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        _, errors = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise UserError(f"{source} cannot be copied to {target.parent}: {errors.decode().strip()}")


async def copy_files(source: Path, target: Path) -> None:
    """Copy all files below a folder into an existing folder; holes are kept."""
    for path in sorted(source.rglob("*")):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            await sparse_copy(path, copy)


def write_sparse(source: IO[bytes], target: Path) -> None:
    """Write the content of `source` to a new file; blocks of zeros become holes."""
    with target.open("xb") as file:
        while block := source.read(CHUNK):
            if block.strip(b"\0"):
                file.write(block)
            else:
                file.seek(len(block), 1)
        file.truncate()


async def staged(folder: Path, key: str, files: Mapping[str, str], hash: Hash, waiting: Callable[[], None]) -> Path:
    """A folder with files of `folder`: a copy on the host's own disk if $S80LAB_STAGE is set, else `folder` itself.

    One process makes the copy once. Each process checks the hashes of the copy. UserError if the disk is full, a copy
    differs, or a copy has changed since it was made.

    folder: the original folder.
    key: hash of the files together, part of the copy's name.
    files: names and hashes of the files to copy; a file with an empty hash is not checked.
    hash: the hash function.
    waiting: called if another process makes the copy.
    """
    stage = paths.stage()
    if stage is None:
        return folder
    sweep(stage)
    final = stage / f"{folder.name}-{key[:16]}"
    async with exclusive(stage / f".{final.name}.lock", waiting):
        # Many hosts remove old files from such disks, one by one.
        if not all((final / name).is_file() for name in files):
            with staging(final) as partial:
                for name, sha256 in files.items():
                    await sparse_copy(folder / name, partial / name)
                    if sha256 and await asyncio.to_thread(present_hash, partial / name, hash) != sha256:
                        raise UserError(
                            f"{short_path(folder / name)}: the copy on the disk of $S80LAB_STAGE ({stage}) has "
                            "another hash than the file; check both disks for errors, then repeat the command"
                        )
    for name, sha256 in files.items():
        if sha256 and await asyncio.to_thread(present_hash, final / name, hash) != sha256:
            raise UserError(
                f"{short_path(final / name)}: this copy has changed since s80lab made it; remove the folder "
                f"{short_path(final)}, and s80lab will copy the files again"
            )
    return final


@asynccontextmanager
async def workplace(folder: Path) -> AsyncIterator[Path]:
    """A place to write the files of `folder`: with $S80LAB_STAGE a folder on the host's own disk, copied at the end."""
    stage = paths.stage()
    if stage is None:
        yield folder
        return
    stage.mkdir(parents=True, exist_ok=True)
    with working(stage) as place:
        yield place
        await copy_files(place, folder)
