# SPDX-License-Identifier: GPL-2.0-or-later
"""Roots for the guest: unpacked Debian packages, and archives."""

from __future__ import annotations

import os
import re
import shutil
import tarfile
from collections.abc import Callable, Container, Sequence
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import text_hash
from s80lab.base.paths import BUILD
from s80lab.base.staging import staging
from s80lab.exec.libraries import is_elf
from s80lab.exec.tree import real_path
from s80lab.image.contents import SUITE
from s80lab.image.packages import unpack

_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]*")


def tar_of(path: Path) -> bool:
    """Whether the path is a file that begins as an uncompressed tar archive."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(tarfile.BLOCKSIZE)[257:262] == b"ustar"


def programs_of(archive: Path, paths: Container[str], folder: Path) -> dict[str, Path]:
    """The ELF files that an archive has at these paths of the guest, for their names. Only their contents are copied,
    to numbered files of the new folder: no name and no link of the archive reaches the host."""
    folder.mkdir()
    found: dict[str, Path] = {}
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                if not (member.isreg() or member.islnk()):
                    continue
                path = f"/{os.path.normpath(f'/{member.name}').lstrip('/')}"
                guest = next((one for one in (path, real_path(path)) if one in paths), "")
                if not guest or (content := tar.extractfile(member)) is None:
                    continue
                copy = folder / str(len(found))
                with copy.open("wb") as target:
                    shutil.copyfileobj(content, target)
                if is_elf(copy):
                    found[guest] = copy  # the last one with this name is the guest's
    except (tarfile.TarError, KeyError):  # KeyError: a hard link to nothing. The guest has refused such an archive
        pass
    return found


def package_root(names: Sequence[str], progress: Callable[[str], None]) -> Path:
    """A folder with the packages and all that they depend on, unpacked. No maintainer script runs. The folder is kept
    for later runs.

    UserError: a name is not one of a package, or the packages cannot be fetched."""
    for name in names:
        if not _PACKAGE.fullmatch(name):
            raise UserError(f"--package {name}: is not a name of a Debian package")
    folder = BUILD / "exec" / f"packages-{text_hash(f'{SUITE} {sorted(names)}')[:16]}"
    if not folder.is_dir():
        progress(f"unpacking {', '.join(names)} and what they need, of Debian {SUITE}")
        with staging(folder) as partial:
            unpack(names, SUITE, partial / "root")
    return folder / "root"
