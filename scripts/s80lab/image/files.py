# SPDX-License-Identifier: GPL-2.0-or-later
"""Selects the guest's files: keep rules over the unpacked packages, and the shared libraries that the files need."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from s80lab.base.errors import UserError
from s80lab.image.cpio import Entry, regular
from s80lab.image.root import files_named, matches, resolve

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
