# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of the unpacked packages, resolved as in the guest: no symbolic link leads out of their root.

Debian's packages hold absolute links (libc6's dynamic linker is one). The host would follow them to its own files,
which are those of another Debian release where the host is not of the image's suite.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from s80lab.base.errors import UserError

MAXIMUM_LINKS = 40  # as many as Linux follows


def resolve(root: Path, path: str) -> Path:
    """Where the guest's `path` lies under `root`, all links followed inside it; there need not be anything.

    UserError for a circle of links.
    """
    pending = list(reversed(PurePosixPath(path).parts))
    here = root
    links = 0
    while pending:
        part = pending.pop()
        if part.startswith("/"):
            here = root
        elif part == "..":
            here = here.parent if here != root else root
        elif (here / part).is_symlink():
            links += 1
            if links > MAXIMUM_LINKS:
                raise UserError(f"the packages' link {path} leads in a circle")
            pending.extend(reversed((here / part).readlink().parts))
        else:
            here = here / part
    return here


def matches(root: Path, pattern: str) -> list[str]:
    """The guest's files that a shell pattern names, sorted; folders that are links are entered like any other."""
    found = [""]
    for part in PurePosixPath(pattern).parts:
        found = [str(PurePosixPath(folder, name)) for folder in found for name in _names(root, folder, part)]
    return sorted(path for path in found if resolve(root, path).is_file())


def files_named(root: Path, part: str) -> list[str]:
    """The guest's files whose names contain `part`, nearest to the root first; folders that are links are left out."""
    found = []
    for folder, _, names in os.walk(root):
        found += [str(Path(folder, name).relative_to(root)) for name in names if part in name]
    return sorted((path for path in found if resolve(root, path).is_file()), key=lambda path: (path.count("/"), path))


def _names(root: Path, folder: str, pattern: str) -> list[str]:
    real = resolve(root, folder)
    return [path.name for path in real.iterdir() if fnmatchcase(path.name, pattern)] if real.is_dir() else []
