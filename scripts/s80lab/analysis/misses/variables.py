# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of the data of programs and shared libraries: `stats[3].hits` for a linked address.

A name comes from the first of these that knows the address:

1. Debug information (DWARF 4 or 5): the variable with its namespaces, classes or function, the field, the type and the
   line of the declaration. It is in the file itself, in the debug file with its build ID (`DebugFiles`), or in the file
   that .gnu_debuglink names, beside the program or in the folder .debug beside it.
2. The symbol that has the address, in the debug file or in the file itself: `name+0x10`. C++ and Rust names are
   demangled if c++filt is installed.
3. The section: `.bss+0x40`.

Debug information in .dwo files (-gsplit-dwarf), in .debug_types (-fdebug-types-section before DWARF 5) and in the
common file of dwz is not read; names or types that are there are left out. Damaged debug information does not raise an
error: what cannot be read has its name from a symbol.

A linked address is an address in the file. For a byte of a mapping, `Elf.loaded` gives it from the offset in the file;
.bss is in no file, so its addresses need the difference between loaded and linked addresses.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from zlib import crc32

from elftools.dwarf.die import DIE

from s80lab.analysis.misses.debug_files import DebugFiles
from s80lab.analysis.misses.debug_types import Types, joined
from s80lab.analysis.misses.debug_units import Static, Units
from s80lab.base.errors import UserError
from s80lab.guest.kernel.elf import Elf, Symbol, ThreadLocalSegment, mapped

CXXFILT = "c++filt"
# Leaves out the hash that Rust adds to names.
_PLAIN = "--no-verbose"
# How the name of a variable was found.
FROM_DEBUG, FROM_SYMBOL, FROM_SECTION = "debug information", "symbol", "section"
_DEBUG_SECTIONS = (".debug_info", ".zdebug_info")
MANGLED = ("_Z", "_R", "__Z")
# What Rust's macro thread_local! adds to the name of a variable.
_OF_RUST_MACRO = re.compile(r"(::\{[^:]*\})*::__RUST_STD_INTERNAL_VAL$")
# Symbols before an address that are tried: a longer symbol may contain shorter ones.
_TRIED = 8


@dataclass(frozen=True)
class Variable:
    """The data at an address.

    name: the variable. address: its linked address; for thread-local data, its offset in the segment; for a variable
    that the compiler has split, where the whole would begin. size: its bytes, 0 if unknown. offset: bytes from its
    begin to the address asked for. field: the name with the path to the field, `stats[3].hits`; where no field has
    the byte, an offset follows: `stats[3]+0xc`. type: the type of the variable. source: `file.c:12` of its
    declaration. Both are empty if they are unknown. origin: FROM_DEBUG, FROM_SYMBOL or FROM_SECTION.
    """

    name: str
    address: int
    size: int
    offset: int
    field: str
    type: str = ""
    source: str = ""
    origin: str = FROM_DEBUG


@dataclass(frozen=True)
class _Described:
    """What debug information says about a variable."""

    name: str
    type: DIE | None
    type_name: str
    source: str
    size: int


class Variables:
    """The variables of one file. elf: the file that is executed. A file without names has its sections.

    A call of `names` with many addresses costs less than many calls of `at`: demangling takes one process a call.
    """

    def __init__(self, elf: Elf, debug: DebugFiles | None = None) -> None:
        self.elf = elf
        self.debug_file = _debug_file(elf, debug or DebugFiles())
        whole = _opened(self.debug_file) if self.debug_file else None
        self._tables = {
            False: _SymbolTable(_symbols(whole, False) + _symbols(elf, False)),
            True: _SymbolTable(_symbols(whole, True) + _symbols(elf, True)),
        }
        self._units = _units(elf, whole)
        self._types = Types(self._units) if self._units else None
        self._described: dict[int, _Described | None] = {}

    @property
    def segment(self) -> ThreadLocalSegment | None:
        """Size and alignment of the file's thread-local data; None if it has none."""
        try:
            return self.elf.thread_local_segment
        except struct.error:
            return None

    def find(self, address: int) -> Variable | None:
        """The variable at a linked address; None if the file has nothing there."""
        return self.names([address])[0]

    def names(self, addresses: Sequence[int]) -> list[Variable | None]:
        """The variables at linked addresses, in the order of the addresses."""
        return self._names(addresses, False)

    def thread_local(self, offset: int) -> Variable | None:
        """The thread-local variable at an offset of the segment of thread-local data."""
        return self.thread_locals([offset])[0]

    def thread_locals(self, offsets: Sequence[int]) -> list[Variable | None]:
        """The thread-local variables at offsets of the segment, in the order of the offsets."""
        return self._names(offsets, True)

    def _names(self, addresses: Sequence[int], thread_local: bool) -> list[Variable | None]:
        wanted = sorted(set(addresses))
        symbols = {address: self._tables[thread_local].containing(address) for address in wanted}
        if self._units:
            ranges = ((symbol.address if symbol else 0, address) for address, symbol in symbols.items())
            self._units.expand(ranges, thread_local)
        found: dict[int, Variable | None] = {}
        for address, symbol in symbols.items():
            found[address] = (
                self._from_debug(address, symbol, thread_local)
                or _from_symbol(address, symbol)
                or (self._thread_local_place(address) if thread_local else self._from_section(address))
            )
        named = {each.name for each in found.values() if each and each.origin == FROM_SYMBOL}
        plain = demangled(sorted(name for name in named if name.startswith(MANGLED)))
        return [_renamed(found[address], plain) for address in addresses]

    def _from_debug(self, address: int, symbol: Symbol | None, thread_local: bool) -> Variable | None:
        for static in self._units.before(address, thread_local) if self._units else ():
            if symbol and static.address < symbol.address:
                return None
            described = self._describe(static)
            if described is None:
                continue
            size = described.size - static.part
            if symbol and symbol.address == static.address and symbol.size and not static.part:
                # The symbol's size includes the elements of a flexible array.
                size = symbol.size
            offset = address - static.address
            if offset >= size:
                continue
            inside = offset + static.part
            return Variable(
                described.name,
                static.address - static.part,
                max(size, described.size),
                inside,
                self._field(described, inside),
                described.type_name,
                described.source,
                FROM_DEBUG,
            )
        return None

    def _describe(self, static: Static) -> _Described | None:
        if static.entry not in self._described:
            self._described[static.entry] = self._read(static)
        return self._described[static.entry]

    def _read(self, static: Static) -> _Described | None:
        """None if the debug information does not name the variable."""
        if self._units is None or self._types is None:
            return None
        try:
            entry = self._units.entry(static.entry)
            type_ = self._types.target(entry)
            name = _OF_RUST_MACRO.sub("", self._types.qualified(entry))
            size = self._types.size(type_) or 0
            described = _Described(name, type_, self._types.name(type_) if type_ else "", "", size)
        except Exception:  # damaged debug information: pyelftools raises many kinds of errors
            return None
        with suppress(Exception):  # the names of the files are damaged, or in a form that pyelftools does not know
            described = replace(described, source=self._types.source(entry))
        return described if name else None

    def _field(self, described: _Described, offset: int) -> str:
        try:
            found = self._types.field(described.type, offset) if self._types else None
        except Exception:  # damaged debug information
            found = None
        if found is None:
            return _with_offset(described.name, offset)
        return _with_offset(joined(described.name, found.path), found.rest)

    def _from_section(self, address: int) -> Variable | None:
        name = self.elf.section_at(address)
        if not name:
            return None
        section = self.elf.sections[name]
        offset = address - section.address
        return Variable(name, section.address, section.size, offset, _with_offset(name, offset), origin=FROM_SECTION)

    def _thread_local_place(self, offset: int) -> Variable | None:
        """A place between the thread-local variables. The sections of the segment follow each other."""
        segment = self.segment
        if segment is None or not 0 <= offset < segment.size:
            return None
        address = segment.address + offset
        sections = (each for each in self.elf.sections.values() if each.thread_local)
        section = next((each for each in sections if 0 <= address - each.address < each.size), None)
        if section is None:
            return None
        begin, inside = section.address - segment.address, address - section.address
        field = _with_offset(section.name, inside)
        return Variable(section.name, begin, section.size, inside, field, origin=FROM_SECTION)


def demangled(names: Sequence[str]) -> Mapping[str, str]:
    """The names of C++ and Rust in the notation of the source, by c++filt. Empty if c++filt is not installed."""
    if not names:
        return {}
    try:
        process = Popen([CXXFILT, _PLAIN], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True, errors="replace")
    except OSError:
        return {}
    answers, _ = process.communicate("".join(f"{name}\n" for name in names))
    lines = answers.splitlines()
    return dict(zip(names, lines, strict=True)) if len(lines) == len(names) else {}


class _SymbolTable:
    """Symbols by address. Of several names for one address, the longest symbol counts, then the name with the fewest
    underscores in front, then the shortest."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        best: dict[int, Symbol] = {}
        for symbol in symbols:
            before = best.get(symbol.address)
            if before is None or _rank(symbol) < _rank(before):
                best[symbol.address] = symbol
        self._begins = sorted(best)
        self._symbols = [best[begin] for begin in self._begins]

    def containing(self, address: int) -> Symbol | None:
        last = bisect_right(self._begins, address)
        near = reversed(self._symbols[max(0, last - _TRIED) : last])
        return next((symbol for symbol in near if address - symbol.address < max(1, symbol.size)), None)


def _rank(symbol: Symbol) -> tuple[int, int, int, str]:
    name = symbol.name
    return -symbol.size, len(name) - len(name.lstrip("_")), len(name), name


def _symbols(elf: Elf | None, thread_local: bool) -> list[Symbol]:
    """The variables of the symbol table; none if the table is damaged."""
    if elf is None:
        return []
    try:
        return elf.thread_locals() if thread_local else elf.objects()
    except (struct.error, ValueError, IndexError):
        return []


def _units(elf: Elf, whole: Elf | None) -> Units | None:
    """The debug information of the file or of its debug file; None if neither has any that can be read."""
    for each in (elf, whole):
        if each is not None and _has_debug(each):
            try:
                return Units(each)
            except Exception:  # damaged: pyelftools raises many kinds of errors
                continue
    return None


def _has_debug(elf: Elf) -> bool:
    return any(name in elf.sections for name in _DEBUG_SECTIONS)


def _debug_file(elf: Elf, debug: DebugFiles) -> Path | None:
    """The separate debug file; None if the file has debug information itself, or if no debug file is found."""
    if _has_debug(elf):
        return None
    return debug.find(elf.build_id) or _linked_file(elf)


def _linked_file(elf: Elf) -> Path | None:
    """The file that .gnu_debuglink names, if its checksum is the stated one."""
    if ".gnu_debuglink" not in elf.sections:
        return None
    content = elf.section(".gnu_debuglink")
    name = content.partition(b"\0")[0].decode("utf-8", "replace")
    if not name or "/" in name or len(content) < 4:
        return None
    for place in (elf.path.parent / name, elf.path.parent / ".debug" / name):
        try:
            if place.is_file() and crc32(place.read_bytes()) == int.from_bytes(content[-4:], "little"):
                return place
        except OSError:
            continue
    return None


def _opened(path: Path) -> Elf | None:
    try:
        return mapped(path)
    except (UserError, OSError, ValueError):
        return None


def _from_symbol(address: int, symbol: Symbol | None) -> Variable | None:
    if symbol is None:
        return None
    name = symbol.name.partition("@")[0]  # without the version
    offset = address - symbol.address
    field = _with_offset(name, offset)
    return Variable(name, symbol.address, symbol.size, offset, field, origin=FROM_SYMBOL)


def _renamed(variable: Variable | None, names: Mapping[str, str]) -> Variable | None:
    if variable is None or variable.origin != FROM_SYMBOL or variable.name not in names:
        return variable
    name = _OF_RUST_MACRO.sub("", names[variable.name])
    return replace(variable, name=name, field=_with_offset(name, variable.offset))


def _with_offset(name: str, offset: int) -> str:
    return f"{name}+{offset:#x}" if offset else name
