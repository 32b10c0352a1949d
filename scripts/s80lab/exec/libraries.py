# SPDX-License-Identifier: GPL-2.0-or-later
"""The shared libraries of a program, found as the dynamic linker finds them (ld.so(8)), without executing anything, and
the files of Debian packages on this host, for programs that need more than their libraries.

`ldd` is not used: it executes the program.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from os.path import normpath
from pathlib import Path, PurePosixPath

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from s80lab.base.errors import UserError
from s80lab.image.files import resolve

DEFAULT_FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")
# The C library loads this one when a thread is cancelled or ends.
LOADED_LATER = "libgcc_s.so.1"
_CACHED = re.compile(r"^\s+(\S+) \((.*?)\) => (\S+)$")
LIMIT_S = 30
_MAGIC = b"\x7fELF"


class NotFoundError(UserError):
    """The program does not exist, or an interpreter or a library of it is missing."""


class NotExecutableError(UserError):
    """The program cannot be executed."""


@dataclass(frozen=True)
class Program:
    """What an ELF file asks for. interpreter: its dynamic linker; empty for a static program and for a library.
    needed: names of libraries; searched: folders of DT_RUNPATH, else of DT_RPATH, with $ORIGIN as it stands; for_all:
    whether they, and those of the files that need this one, apply to libraries of libraries, as without DT_RUNPATH."""

    interpreter: str
    needed: Sequence[str]
    searched: Sequence[str]
    for_all: bool


def is_elf(path: Path) -> bool:
    """Whether the file begins as an ELF file."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read_program(path: Path) -> Program:
    """NotExecutableError: the file is damaged, or the program is not one for x86-64 Linux."""
    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            if elf["e_machine"] != "EM_X86_64" or elf.elfclass != 64:
                machine = str(elf["e_machine"]).removeprefix("EM_")
                raise NotExecutableError(
                    f"{path}: the program is for {machine} ({elf.elfclass} bits), but the guest is x86-64: compile "
                    "it for x86-64"
                )
            if elf["e_type"] not in ("ET_EXEC", "ET_DYN"):
                raise NotExecutableError(f"{path}: the ELF file is neither a program nor a library: link it")
            interpreter = ""
            needed: list[str] = []
            paths: dict[str, str] = {}
            for segment in elf.iter_segments():
                if isinstance(segment, InterpSegment):
                    interpreter = segment.get_interp_name()
                if isinstance(segment, DynamicSegment):
                    for tag in segment.iter_tags():
                        if tag.entry.d_tag == "DT_NEEDED":
                            needed.append(str(vars(tag)["needed"]))
                        elif tag.entry.d_tag in ("DT_RUNPATH", "DT_RPATH"):
                            paths[tag.entry.d_tag] = str(vars(tag)[tag.entry.d_tag[3:].lower()])
    except (ELFError, AssertionError, ValueError, KeyError, IndexError, OverflowError, UnicodeDecodeError):
        raise NotExecutableError(f"{path}: the ELF file is damaged; build or copy it again") from None
    folders = paths.get("DT_RUNPATH", paths.get("DT_RPATH", ""))
    searched = tuple(folder for folder in folders.split(":") if folder)
    return Program(interpreter, tuple(needed), searched, "DT_RUNPATH" not in paths)


@dataclass(frozen=True)
class Placed:
    """A file of the host and its path in the guest."""

    host: Path
    guest: str

    def folder(self, searched: str) -> tuple[str, str]:
        """A folder in which a file searches its libraries: on the host and in the guest."""
        here, there = str(self.host.parent), str(PurePosixPath(self.guest).parent)
        return _origin(searched, here), normpath(_origin(searched, there))


@dataclass
class Libraries:
    """Finds libraries below a root: the host's, or that of another distribution. root: its folder."""

    root: Path = Path("/")
    _cached: Mapping[str, str] | None = None

    def closure(self, programs: Sequence[Placed], optional: Sequence[Placed] = ()) -> list[Placed]:
        """The files that programs need: their dynamic linker and their libraries, by their paths in the guest.

        optional: further files, whose libraries may be missing: what loads such a file may have loaded its libraries.
        NotFoundError: a library is missing. NotExecutableError: a file is damaged, or is not for x86-64 Linux.
        """
        found: dict[str, Placed] = {}
        names: set[str] = set()
        pending: list[tuple[Placed, tuple[tuple[str, str], ...], bool]] = [
            *((file, (), False) for file in optional),
            *((file, (), True) for file in programs),
        ]
        while pending:
            file, inherited, required = pending.pop()
            content = read_program(file.host)
            if content.interpreter:
                found[content.interpreter] = self._named(content.interpreter, f"the dynamic linker of {file.host}")
            own = tuple(map(file.folder, content.searched))
            searched = (*own, *inherited) if content.for_all else own
            for name in content.needed:
                if name in names:
                    continue
                names.add(name)
                library = self._find(name, searched)
                if library is None and not required:
                    continue
                if library is None:
                    where = "on this host" if self.root == Path("/") else f"in {self.root}"
                    raise NotFoundError(
                        f"{file.host}: the library {name}, which it needs, was not found {where}: install it, or hand "
                        f"it over with --add PATH:{DEFAULT_FOLDERS[1]}/{name}"
                    )
                found[library.guest] = library
                pending.append((library, searched if content.for_all else (), required))
        if found and (later := self._find(LOADED_LATER, ())) is not None:
            found[later.guest] = later
        return [found[guest] for guest in sorted(found)]

    def _named(self, guest: str, what: str) -> Placed:
        host = resolve_in(self.root, guest)
        if not host.is_file():
            where = "on this host" if self.root == Path("/") else f"in {self.root}"
            raise NotFoundError(f"{what}, {guest}, does not exist {where}: install it, or link the program statically")
        return Placed(host, guest)

    def _find(self, name: str, folders: Sequence[tuple[str, str]]) -> Placed | None:
        if "/" in name:
            host = resolve_in(self.root, name)
            return Placed(host, name) if host.is_file() else None
        places = [(f"{host}/{name}", f"{guest}/{name}") for host, guest in folders]
        if name in self._cache():
            places.append((self._cache()[name], self._cache()[name]))
        places += [(f"{folder}/{name}", f"{folder}/{name}") for folder in DEFAULT_FOLDERS]
        for on_host, guest in places:
            path = resolve_in(self.root, on_host)
            if path.is_file():
                return Placed(path, guest)
        return None

    def _cache(self) -> Mapping[str, str]:
        """The host's cache of libraries (ldconfig). Variants for certain processors are left out."""
        if self._cached is None:
            self._cached = _host_cache() if self.root == Path("/") else {}
        return self._cached


def _host_cache() -> Mapping[str, str]:
    for program in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            output = subprocess.run(
                [program, "-p"], capture_output=True, text=True, check=False, timeout=LIMIT_S
            ).stdout
        except OSError:
            continue
        cache: dict[str, str] = {}
        for line in output.splitlines():
            match = _CACHED.match(line)
            if match is not None and "x86-64" in match[2] and "hwcap" not in match[2]:
                cache.setdefault(match[1], match[3])
        return cache
    return {}


def _origin(folder: str, here: str) -> str:
    return folder.replace("${ORIGIN}", here).replace("$ORIGIN", here)


def resolve_in(root: Path, guest: str) -> Path:
    """The file below the root to which a guest's path leads."""
    return Path(guest) if root == Path("/") else resolve(root, guest.lstrip("/"))


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
