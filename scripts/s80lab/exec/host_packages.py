# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of Debian packages that are installed on this host, for programs that need more than their libraries."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.exec.libraries import Placed

INTERPRETERS = re.compile(r"python3(\.\d+)?|perl|ruby(\d\.\d)?|java|node|php(\d\.\d)?|tclsh(\d\.\d)?|guile|Rscript")
"""Programs that cannot work without the other files of their packages."""
UNUSED = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/info/", "/usr/share/locale/", "/usr/share/lintian/",
          "/usr/share/bug/", "/var/lib/")  # fmt: skip
_DEPENDENCY = re.compile(r"[a-z0-9][a-z0-9+.-]*")


def is_interpreter(program: Path) -> bool:
    """Whether the program cannot work without other files, by its name."""
    return INTERPRETERS.fullmatch(program.name) is not None


def interpreter_files(program: Path) -> list[Placed]:
    """The files of the interpreter's packages and of those on which they depend; none if the program is no
    interpreter, or if no package installed it."""
    if not is_interpreter(program):
        return []
    owners = {name for path in (program, program.resolve()) for name in _owners(path)}
    # /usr/bin/python3 belongs to python3-minimal, and most of the library to python3.
    whole = [program.name] if program.name in _installed() else []
    return package_files(sorted(owners) + whole) if owners else []


def package_files(names: Sequence[str]) -> list[Placed]:
    """The files of these installed packages and of all on which they depend, without documentation.

    UserError: a package is not installed.
    """
    installed = _installed()
    for name in names:
        if name not in installed:
            raise UserError(f"--with {name}: this Debian package is not installed on this host: apt-get install {name}")
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in found and name in installed:
            found.add(name)
            pending += _names(installed[name])
    paths = sorted(set(_query("-L", *sorted(found)).splitlines())) if found else []
    return [Placed(Path(path), path) for path in paths if _used(path)]


@cache
def _installed() -> Mapping[str, str]:
    """The dependencies of each package that is installed on this host."""
    lines = _query("-W", "-f=${db:Status-Status}\t${Package}\t${Depends}, ${Pre-Depends}\n").splitlines()
    fields = (line.split("\t") for line in lines)
    return {name: needs for status, name, needs in fields if status == "installed"}


def _used(path: str) -> bool:
    return path.startswith("/") and not path.startswith(UNUSED) and Path(path).is_file()


def _owners(path: Path) -> list[str]:
    lines = _query("-S", str(path)).splitlines()
    return [line.split(":")[0] for line in lines if line.endswith(f": {path}")]


def _names(dependencies: str) -> Iterable[str]:
    """The names in a list of dependencies; of alternatives all, because one of them is installed."""
    for group in dependencies.split(","):
        for alternative in group.split("|"):
            if match := _DEPENDENCY.match(alternative.strip()):
                yield match[0]


def _query(*words: str) -> str:
    try:
        return subprocess.run(["dpkg-query", *words], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""
