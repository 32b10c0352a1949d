# SPDX-License-Identifier: GPL-2.0-or-later
"""Choice of the guest's files: keep rules over the unpacked packages, plus the shared libraries these need."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from s80lab.errors import UserError
from s80lab.image_cpio import Entry, regular

INTERPRETER = "lib64/ld-linux-x86-64.so.2"


def read_lines(path: Path) -> list[str]:
    """The lines of a list file, without comments and empty lines."""
    lines = (line.split("#", 1)[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def kept_files(root: Path, rules: Path) -> list[Entry]:
    """Every file under `root` that a pattern of `rules` names, and the libraries needed, each at its own path."""
    chosen: set[Path] = set()
    for pattern in read_lines(rules):
        matches = [path for path in root.glob(pattern) if path.is_file()]
        if not matches:
            raise UserError(f"{rules}: no file of the packages matches '{pattern}': mend the pattern or packages.txt")
        chosen.update(matches)
    chosen.update(_libraries(root, chosen))
    return [regular(str(path.relative_to(root)), path.read_bytes(), 0o755) for path in sorted(chosen)]


def _libraries(root: Path, programs: Iterable[Path]) -> set[Path]:
    """The closure of the programs' DT_NEEDED entries, with the dynamic linker if there is any."""
    library_paths = {path.name: path for path in root.rglob("*.so*") if path.is_file()}
    found: set[Path] = set()
    pending = list(programs)
    while pending:
        names = _needed(pending)
        missing = names - library_paths.keys()
        if missing:
            raise UserError(f"libraries in none of the packages: {', '.join(missing)}; add theirs to packages.txt")
        fresh = {library_paths[name] for name in names} - found
        found |= fresh
        pending = sorted(fresh)
    if found:
        found.add(root / INTERPRETER)
    return found


def _needed(programs: list[Path]) -> set[str]:
    command = ["readelf", "--dynamic", *map(str, programs)]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", output)) - {Path(INTERPRETER).name}
