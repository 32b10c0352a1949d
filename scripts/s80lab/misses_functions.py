# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of functions: the kernel's by its own symbols, those of programs and libraries by their ELF files.

Debian's files are stripped, so a function that is not exported has no name. Its begin is still known (the unwinder's
table), and it is called after the exported symbol before it: `libc.so.6: malloc~3f0` begins 0x3f0 bytes behind malloc.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from s80lab.errors import UserError
from s80lab.image_cpio import read_archive
from s80lab.kernel_elf import Elf
from s80lab.kernel_symbols import Symbols
from s80lab.misses_memory import FileMapping

_KERNEL_HALF = 1 << 63
UNNAMED = "?"


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
    """files: what each thread (pid) has mapped; image: the archive that the programs come from."""

    symbols: Symbols
    files: Mapping[int, Sequence[FileMapping]]
    image: Path
    _elves: dict[str, Elf] | None = None
    _programs: dict[str, Program] = field(default_factory=dict)
    _found: dict[tuple[int, int], str] = field(default_factory=dict)

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
        for mapping in self.files.get(pid, ()):
            if mapping.begin <= pc < mapping.end:
                name = mapping.path.rsplit("/", 1)[-1]
                return f"{name}: {self._program_at(mapping.path, pc - mapping.begin + mapping.offset)}"
        return UNNAMED

    def _program_at(self, path: str, offset: int) -> str:
        elf = self._elf(path)
        address = None if elf is None else elf.loaded(offset)
        if elf is None or address is None:
            return UNNAMED
        if path not in self._programs:
            self._programs[path] = program(elf)
        return self._programs[path].at(address)

    def _elf(self, path: str) -> Elf | None:
        if self._elves is None:
            self._elves = {}
            for entry in read_archive(self.image):
                try:
                    self._elves["/" + entry.path] = Elf(Path(entry.path), entry.data)
                except UserError:
                    continue
        return self._elves.get(path)


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
