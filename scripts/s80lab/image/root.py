# SPDX-License-Identifier: GPL-2.0-or-later
"""Resolves paths in the folder of unpacked packages as the guest would. Symbolic links cannot lead out of this folder.

Debian's packages contain absolute links, for example libc6's dynamic linker. The host would follow them to its own
files. Those are of another Debian release if the host's suite is not the image's.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from s80lab.base.errors import UserError

MAXIMUM_LINKS = 40  # as many as Linux follows


def resolve(root: Path, path: str) -> Path:
    """The file under `root` to which the guest's `path` leads. All links are followed inside `root`. The file need not
    exist.

    UserError: the links form a circle.
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
                raise UserError(
                    f"the symbolic link {path} in the packages of the image is part of a cycle of links: "
                    "correct the list of packages"
                )
            pending.extend(reversed((here / part).readlink().parts))
        else:
            here = here / part
    return here


def matches(root: Path, pattern: str) -> list[str]:
    """The guest's files that match a shell pattern, sorted. Links to folders are followed."""
    found = [""]
    for part in PurePosixPath(pattern).parts:
        found = [str(PurePosixPath(folder, name)) for folder in found for name in _names(root, folder, part)]
    return sorted(path for path in found if resolve(root, path).is_file())


def files_named(root: Path, part: str) -> list[str]:
    """The guest's files whose names contain `part`, nearest to the root first. Links to folders are not followed."""
    found = []
    for folder, _, names in os.walk(root):
        found += [str(Path(folder, name).relative_to(root)) for name in names if part in name]
    return sorted((path for path in found if resolve(root, path).is_file()), key=lambda path: (path.count("/"), path))


def _names(root: Path, folder: str, pattern: str) -> list[str]:
    real = resolve(root, folder)
    return [path.name for path in real.iterdir() if fnmatchcase(path.name, pattern)] if real.is_dir() else []
