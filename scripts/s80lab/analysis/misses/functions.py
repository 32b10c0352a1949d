# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of functions: from the kernel's symbols, and from the ELF files of programs and libraries.

A name comes from a symbol whose function contains the address, in the program's debug file or in the program itself.
Debian's programs are stripped: without a debug file, functions that are not exported have no name. Such a function is
shown as the file and the function's first address, `libc.so.6+0x9ae40`. The address is the linked one, which
disassemblers print. It comes from the unwinder's tables.

QEMU translates a page of code once for all processes. A logged address may therefore be an address of another process
than the one that executed the instruction. If a process has no mapping at the address, the mappings of all other
processes are searched.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from s80lab.analysis.misses.debug_files import DebugFiles
from s80lab.analysis.misses.memory import VDSO, FileMapping
from s80lab.base.errors import UserError
from s80lab.guest.kernel.elf import Elf, Symbol
from s80lab.guest.kernel.symbols import Symbols
from s80lab.image.cpio import read_archive

_KERNEL_HALF = 1 << 63
UNNAMED = "?"
KERNEL = "kernel"
# Longest mapping of a file that is expected.
_LONGEST = 64 << 20
# Symbols around the kernel's code.
_CODE = (("_text", "_etext"), ("_sinittext", "_einittext"))
_FILE = re.compile(r"(?P<file>.*?)(?:: .*|\+0x[0-9a-f]+)")


@dataclass(frozen=True)
class Place:
    """Code in a file: the file's path (`kernel` for the kernel), and the address to which the code is linked."""

    path: str
    address: int


@dataclass(frozen=True)
class Program:
    """The functions of one file: sorted first addresses, and for each function its end and its name. The name is empty
    if the file does not state it."""

    begins: Sequence[int]
    ends: Sequence[int]
    names: Sequence[str]

    def function(self, address: int) -> tuple[int, str]:
        """First address and name of the function at an address. Outside all functions: the address, and no name."""
        place = bisect_right(self.begins, address) - 1
        if place < 0 or address >= self.ends[place]:
            return address, ""
        return self.begins[place], self.names[place]


@dataclass
class Functions:
    """Finds the function at a code address. files: the mappings of each thread (pid). image: the archive with the
    guest's programs. built: the folder of our own programs before stripping."""

    symbols: Symbols
    files: Mapping[int, Sequence[FileMapping]]
    image: Path
    built: Path
    debug: DebugFiles = field(default_factory=DebugFiles)
    _elves: dict[str, Elf] | None = None
    _programs: dict[str, Program] = field(default_factory=dict)
    _found: dict[tuple[int, int], str] = field(default_factory=dict)
    _all: list[FileMapping] | None = None
    _begins: list[int] = field(default_factory=list)

    def name(self, pid: int, pc: int) -> str:
        """`function` for the kernel, `file: function` for a program, `file+0xaddress` for a function without a name,
        `?` if the file is unknown."""
        key = (0 if pc >= _KERNEL_HALF else pid, pc)
        if key not in self._found:
            self._found[key] = self._kernel(pc) if pc >= _KERNEL_HALF else self._user(pid, pc)
        return self._found[key]

    def place(self, pid: int, pc: int) -> Place | None:
        """Where the code is; None if that is unknown, or if the code is in no file."""
        if pc >= _KERNEL_HALF:
            return Place(KERNEL, pc)
        mapping = self._mapping(pid, pc)
        elf = None if mapping is None or mapping.path == VDSO else self._elf(mapping.path)
        address = None if mapping is None or elf is None else elf.loaded(pc - mapping.begin + mapping.offset)
        return None if mapping is None or address is None else Place(mapping.path, address)

    def with_lines(self, path: str) -> Path | None:
        """The file that may have line numbers for the code of a program: its debug file, or our own program before
        stripping. None if there is neither."""
        elf = self._elf(path)
        if elf is None:
            return None
        whole = self._whole(path, elf)
        return None if whole is elf else whole.path

    def _kernel(self, pc: int) -> str:
        symbols = self.symbols
        pairs = (pair for pair in _CODE if pair[0] in symbols and pair[1] in symbols)
        if not any(symbols.address(begin) <= pc < symbols.address(end) for begin, end in pairs):
            return UNNAMED
        found = symbols.find(pc)
        return found[0].name if found else UNNAMED

    def _user(self, pid: int, pc: int) -> str:
        mapping = self._mapping(pid, pc)
        if mapping is None:
            return UNNAMED
        name = mapping.path.rsplit("/", 1)[-1]
        if mapping.path == VDSO:
            return name
        place = self.place(pid, pc)
        if place is None:
            return f"{name}: {UNNAMED}"
        begin, function = self._program(place.path).function(place.address)
        return f"{name}: {function}" if function else f"{name}+{begin:#x}"

    def _mapping(self, pid: int, pc: int) -> FileMapping | None:
        own = (mapping for mapping in self.files.get(pid, ()) if mapping.begin <= pc < mapping.end)
        return next(own, None) or self._anybodys(pc)

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

    def _program(self, path: str) -> Program:
        if path not in self._programs:
            elf = self._elf(path)
            assert elf is not None  # it has a place
            self._programs[path] = program(elf, self._whole(path, elf))
        return self._programs[path]

    def _whole(self, path: str, elf: Elf) -> Elf:
        """The debug file; else the file before stripping, if we have built it and its code is identical; else the
        stripped file."""
        found = self.debug.find(elf.build_id)
        if found is not None:
            return Elf(found)
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


def file_of(name: str) -> str:
    """The file in the name of a function of a program: `libc.so.6` of `libc.so.6: malloc` and of
    `libc.so.6+0x9ae40`."""
    found = _FILE.fullmatch(name)
    return found["file"] if found else name


def _begin(mapping: FileMapping) -> tuple[int, int, str]:
    return mapping.begin, mapping.end, mapping.path


def program(elf: Elf, whole: Elf) -> Program:
    """All functions of a file. elf: the file that is executed. whole: the file with the most symbols, its debug file
    or itself.

    A symbol without a length names a function only if the unwinder's tables have a function at its address.
    """
    unwound = dict(elf.unwound())
    found = {begin: (end, "") for begin, end in unwound.items()}
    for function in sorted(_best(whole.functions(), elf.functions()), key=lambda f: f.address):
        end = function.address + function.size if function.size else unwound.get(function.address)
        if end is not None:
            found[function.address] = end, function.name
    # A nameless entry inside a named function is a part of this function.
    begins: list[int] = []
    last = 0
    for begin in sorted(found):
        end, name = found[begin]
        if not name and begin < last:
            continue
        if name:
            last = max(last, end)
        else:
            name = _linkage(elf.section_at(begin))
            found[begin] = end, name
        begins.append(begin)
    return Program(begins, [found[begin][0] for begin in begins], [found[begin][1] for begin in begins])


def _best(*tables: Iterable[Symbol]) -> list[Symbol]:
    """One symbol for each address: of several names for one function, the one with the fewest underscores in front,
    then the shortest."""
    best: dict[int, Symbol] = {}
    for function in (function for table in tables for function in table):
        before = best.get(function.address)
        if before is None or _rank(function) < _rank(before):
            best[function.address] = function
    return list(best.values())


def _rank(function: Symbol) -> tuple[bool, int, int, str]:
    name = function.name
    return not function.size, len(name) - len(name.lstrip("_")), len(name), name


def _linkage(section: str) -> str:
    """The name for the code of the procedure linkage table, which calls functions of other files: `[.plt]`."""
    return f"[{section}]" if section.startswith(".plt") else ""
