# SPDX-License-Identifier: GPL-2.0-or-later
"""The host's own disk, where the stores lie on one that many hosts share ($S80LAB_STAGE; without it nothing is copied).

A guest's RAM is mapped and read page by page, a capture by every replay: from a shared file system both are slow, and
slow for everybody. What is copied stays until somebody removes the folder: the batch system, or its user.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from s80lab.base import paths
from s80lab.base.copying import copy_files, sparse_copy
from s80lab.base.errors import UserError
from s80lab.base.staging import exclusive, staging, sweep, working
from s80lab.base.strict import shown

Hash = Callable[[Path], str]


async def staged(folder: Path, key: str, files: Mapping[str, str], hash: Hash, waiting: Callable[[], None]) -> Path:
    """A folder with these files of `folder` (names and hashes), on the host's own disk where there is one: copied
    once, by one process, and hashed. key: hash of what they are. UserError where the disk is full or a copy differs."""
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
                    if sha256 and await asyncio.to_thread(hash, partial / name) != sha256:
                        raise UserError(
                            f"{shown(folder / name)}: its copy in {stage} is another file; see to that disk"
                        )
    return final


@asynccontextmanager
async def workplace(folder: Path) -> AsyncIterator[Path]:
    """Where to make the files of `folder`: on the host's own disk where there is one, from where they are copied."""
    stage = paths.stage()
    if stage is None:
        yield folder
        return
    stage.mkdir(parents=True, exist_ok=True)
    with working(stage) as place:
        yield place
        await copy_files(place, folder)
