# SPDX-License-Identifier: GPL-2.0-or-later
"""Selects the guest's files: paths in a root of unpacked packages, keep rules, and the shared libraries that the files
need."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from s80lab.base.errors import UserError
from s80lab.image.cpio import Entry, regular

INTERPRETER = "lib64/ld-linux-x86-64.so.2"


def read_lines(path: Path) -> list[str]:
    """The lines of a list file without comments and empty lines."""
    lines = (line.split("#", 1)[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def kept_files(root: Path, patterns: Mapping[str, str]) -> list[Entry]:
    """Every file under `root` that a pattern matches, and the libraries that it needs. Each entry has its own path.
    patterns: each pattern with the name of the file that holds it."""
    chosen: set[str] = set()
    for pattern, rules in patterns.items():
        found = matches(root, pattern)
        if not found:
            raise UserError(
                f"{rules}: no file in the packages of the image matches the pattern '{pattern}': correct the "
                "pattern or the list of packages"
            )
        chosen.update(found)
    libraries, missing = libraries_of(root, chosen)
    if missing:
        raise UserError(
            f"no package of the image contains the libraries {', '.join(sorted(missing))}, which programs in "
            "the image need: add their packages to the list of packages"
        )
    if libraries and not resolve(root, INTERPRETER).is_file():
        raise UserError(
            f"no package of the image contains the dynamic linker {INTERPRETER}: add libc6 to the list of packages"
        )
    chosen |= libraries
    return [regular(path, resolve(root, path).read_bytes(), 0o755) for path in sorted(chosen)]


def libraries_of(root: Path, programs: Iterable[str]) -> tuple[set[str], set[str]]:
    """All libraries that the programs need, directly or indirectly (DT_NEEDED), with the dynamic linker if there are
    any. Also the names of needed libraries that are missing under `root`."""
    libraries: dict[str, str] = {}
    for path in files_named(root, ".so"):
        libraries.setdefault(PurePosixPath(path).name, path)
    found: set[str] = set()
    missing: set[str] = set()
    pending = list(programs)
    while pending:
        names = _needed([resolve(root, path) for path in pending])
        missing |= names - libraries.keys()
        fresh = {libraries[name] for name in names & libraries.keys()} - found
        found |= fresh
        pending = sorted(fresh)
    return found | ({INTERPRETER} if found else set()), missing


def _needed(programs: list[Path]) -> set[str]:
    command = ["readelf", "--dynamic", "--wide", *map(str, programs)]
    output = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C.UTF-8"}
    ).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", output)) - {PurePosixPath(INTERPRETER).name}


# Debian's packages contain absolute links, for example libc6's dynamic linker. The host would follow them to its own
# files. Those are of another Debian release if the host's suite is not the image's.
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
