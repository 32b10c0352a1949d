# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of functions: from the kernel's symbols, and from the ELF files of programs and libraries.

Debian's files are stripped, so functions that are not exported have no name. Their start addresses are known from the
unwind tables. Such a function is named after the preceding exported symbol: `libc.so.6: malloc~3f0` starts 0x3f0 bytes
after malloc.

QEMU translates a page of code once for all processes. A logged address may therefore be an address of another process
than the one that executed the instruction. If a process has no mapping at the address, the mappings of all other
processes are searched.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from s80lab.analysis.misses.memory import VDSO, FileMapping
from s80lab.base.errors import UserError
from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.symbols import Symbols
from s80lab.image.cpio import read_archive

_KERNEL_HALF = 1 << 63
UNNAMED = "?"
# Longest mapping of a file that is expected.
_LONGEST = 64 << 20


@dataclass(frozen=True)
class Program:
    """The functions of one file: sorted start addresses, and one name for each."""

    begins: Sequence[int]
    names: Sequence[str]

    def at(self, address: int) -> str:
        place = bisect_right(self.begins, address) - 1
        return self.names[place] if place >= 0 else UNNAMED


@dataclass
class Functions:
    """Finds the function at a code address. files: the mappings of each thread (pid). image: the archive with the
    guest's programs. built: the folder of our own programs before stripping."""

    symbols: Symbols
    files: Mapping[int, Sequence[FileMapping]]
    image: Path
    built: Path
    _elves: dict[str, Elf] | None = None
    _programs: dict[str, Program] = field(default_factory=dict)
    _found: dict[tuple[int, int], str] = field(default_factory=dict)
    _all: list[FileMapping] | None = None
    _begins: list[int] = field(default_factory=list)

    def name(self, pid: int, pc: int) -> str:
        """`function` for the kernel, `file: function` for a program, `?` if unknown."""
        key = (0 if pc >= _KERNEL_HALF else pid, pc)
        if key not in self._found:
            self._found[key] = self._kernel(pc) if pc >= _KERNEL_HALF else self._user(pid, pc)
        return self._found[key]

    def _kernel(self, pc: int) -> str:
        found = self.symbols.at(pc)
        return found[0].name if found else UNNAMED

    def _user(self, pid: int, pc: int) -> str:
        own = (mapping for mapping in self.files.get(pid, ()) if mapping.begin <= pc < mapping.end)
        mapping = next(own, None) or self._anybodys(pc)
        if mapping is None:
            return UNNAMED
        name = mapping.path.rsplit("/", 1)[-1]
        if mapping.path == VDSO:
            return name
        return f"{name}: {self._program_at(mapping.path, pc - mapping.begin + mapping.offset)}"

    def _anybodys(self, pc: int) -> FileMapping | None:
        """The mapping that any process has at the address; None if two processes map different code there."""
        if self._all is None:
            self._all = sorted({mapping for files in self.files.values() for mapping in files}, key=_begin)
            self._begins = [mapping.begin for mapping in self._all]
        found: dict[tuple[str, int], FileMapping] = {}
        for mapping in reversed(self._all[: bisect_right(self._begins, pc)]):
            if mapping.begin + _LONGEST <= pc:
                break
            if pc < mapping.end:
                found[mapping.path, pc - mapping.begin + mapping.offset] = mapping
        return next(iter(found.values())) if len(found) == 1 else None

    def _program_at(self, path: str, offset: int) -> str:
        elf = self._elf(path)
        address = None if elf is None else elf.loaded(offset)
        if elf is None or address is None:
            return UNNAMED
        if path not in self._programs:
            self._programs[path] = program(self._whole(path, elf))
        return self._programs[path].at(address)

    def _whole(self, path: str, elf: Elf) -> Elf:
        """The file before stripping, if we have built it and its code is identical; else the stripped file."""
        ours = self.built / path.rsplit("/", 1)[-1]
        if not ours.is_file():
            return elf
        whole = Elf(ours)
        return whole if whole.section(".text") == elf.section(".text") else elf

    def _elf(self, path: str) -> Elf | None:
        if self._elves is None:
            self._elves = {}
            for entry in read_archive(self.image):
                try:
                    self._elves["/" + entry.path] = Elf(Path(entry.path), entry.data)
                except UserError:
                    continue
        return self._elves.get(path)


def _begin(mapping: FileMapping) -> tuple[int, int, str]:
    return mapping.begin, mapping.end, mapping.path


def program(elf: Elf) -> Program:
    """All functions of a file; nameless functions are named after the preceding symbol."""
    named = {function.address: function.name for function in reversed(elf.functions())}
    addresses = sorted(named)
    begins = sorted({*addresses, *elf.begins()})
    names = []
    for begin in begins:
        place = bisect_right(addresses, begin) - 1
        before = addresses[place] if place >= 0 else None
        if before is None:
            names.append(f"~{begin:x}")
        else:
            names.append(named[before] if before == begin else f"{named[before]}~{begin - before:x}")
    return Program(begins, names)
