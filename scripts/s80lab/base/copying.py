# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of sparse files, such as a guest's RAM."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import IO

from s80lab.base.errors import UserError
from s80lab.base.hashing import CHUNK


async def sparse_copy(source: Path, target: Path) -> None:
    """Copy a file without filling its holes. UserError if the copy fails, for example on a full disk."""
    command = ["cp", "--reflink=auto", "--sparse=auto", str(source), str(target)]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    try:
        _, said = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        raise UserError(f"{source} cannot be copied to {target.parent}: {said.decode().strip()}")


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
