# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of functions: the kernel's by its own symbols, those of programs and libraries by their ELF files.

Debian's files are stripped, so a function that is not exported has no name. Its begin is still known (the unwinder's
table), and it is called after the exported symbol before it: `libc.so.6: malloc~3f0` begins 0x3f0 bytes behind malloc.

QEMU translates a page of code once for all processes, so the address that an instruction is logged with may be another
process's than the one that ran it: where a process has nothing mapped there, whoever has is asked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.guest.kernel.elf import Elf
from s80lab.guest.kernel.symbols import Symbols
from s80lab.image.cpio import read_archive
from s80lab.report.misses.memory import VDSO, FileMapping

_KERNEL_HALF = 1 << 63
UNNAMED = "?"
# No part of a file is mapped in longer stretches.
_LONGEST = 64 << 20


@dataclass(frozen=True)
class Program:
    """Functions of one file: begins by address, and each one's name."""

    begins: Sequence[int]
    names: Sequence[str]

    def at(self, address: int) -> str:
        place = bisect_right(self.begins, address) - 1
        return self.names[place] if place >= 0 else UNNAMED


@dataclass
class Functions:
    """files: what each thread (pid) has mapped; image: the archive that the programs come from; built: where our
    own programs are, which the image holds stripped."""

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
        """`function` of the kernel, `file: function` of a program; `?` where nothing is known."""
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
        """The mapping of whatever process has one there; None where two disagree."""
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
        """The file before it was stripped, where we have built it and it is the same."""
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
    """All functions of a file, those without a name after the symbol before them."""
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
