# SPDX-License-Identifier: GPL-2.0-or-later
"""Roots for the guest: unpacked Debian packages, and archives."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import text_hash
from s80lab.base.paths import BUILD
from s80lab.base.staging import staging
from s80lab.image.contents import SUITE
from s80lab.image.packages import unpack

_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]*")


def tar_of(path: Path) -> bool:
    """Whether the path is a file that begins as an uncompressed tar archive."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(tarfile.BLOCKSIZE)[257:262] == b"ustar"


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
