# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of files with holes, as a guest's RAM is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import IO

from s80lab.base.errors import UserError
from s80lab.base.hashing import CHUNK


async def sparse_copy(source: Path, target: Path) -> None:
    """Copies a file without filling its holes; UserError where the disk is full."""
    command = ["cp", "--reflink=auto", "--sparse=auto", str(source), str(target)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        _, said = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise UserError(f"{source} could not be copied to {target.parent}: {said.decode().strip()}")


async def copy_files(source: Path, target: Path) -> None:
    """Every file of a folder and its folders, holes kept, into a folder that is there."""
    for path in sorted(source.rglob("*")):
        if path.is_file():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            await sparse_copy(path, copy)


def write_sparse(source: IO[bytes], target: Path) -> None:
    """What can be read of `source` into a new file; blocks of zeros become holes."""
    with target.open("xb") as file:
        while block := source.read(CHUNK):
            if block.strip(b"\0"):
                file.write(block)
            else:
                file.seek(len(block), 1)
        file.truncate()
