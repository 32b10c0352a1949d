# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads sections and symbol tables of ELF files (x86-64, little-endian)."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from s80lab.base.errors import UserError

# System V ABI, Object files: e_ident, section types, symbol types, section flags, segment types.
_IDENT = b"\x7fELF\x02\x01"
_SYMTAB, _NOTE, _NOBITS, _DYNSYM = 2, 7, 8, 11
_OBJECT, _FUNCTION, _THREAD_LOCAL = 1, 2, 6
_FLAG_EXECUTABLE, _FLAG_THREAD_LOCAL = 0x4, 0x400
_LOAD, _TLS = 1, 7
# Linux, include/uapi/linux/elf.h; binutils, ld --build-id: owner and type of the note with the build ID.
_GNU, _BUILD_ID = b"GNU\0", 3
_NOTE_HEAD = struct.Struct("<III")
# LSB core, exception frames: version, and how the words of a sorted table are encoded.
_SORTED_TABLE = bytes((1, 0x1B, 0x03, 0x3B))
# An entry (FDE): length, distance to its CIE, first address (relative to this word), and number of bytes.
_FRAME_ENTRY = struct.Struct("<IIiI")
_FIRST_ADDRESS = 8
_SECTION, _SYMBOL, _SEGMENT = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), struct.Struct("<IIQQQQQQ")


class _Segment(NamedTuple):
    """A program header. length, memory: bytes in the file, and bytes in memory."""

    kind: int
    offset: int
    address: int
    length: int
    memory: int
    alignment: int


@dataclass(frozen=True)
class Section:
    """A section: linked address, offset in the file, and length in bytes."""

    name: str
    kind: int
    address: int
    offset: int
    size: int
    link: int
    flags: int = 0

    @property
    def thread_local(self) -> bool:
        """Whether the section is a part of the data that each thread copies. Other sections may have its addresses."""
        return bool(self.flags & _FLAG_THREAD_LOCAL)

    @property
    def executable(self) -> bool:
        """Whether the section holds code."""
        return bool(self.flags & _FLAG_EXECUTABLE)


@dataclass(frozen=True)
class Symbol:
    """A function or variable of the symbol table. address: for a thread-local variable, its offset in the segment of
    thread-local data. size: 0 if the symbol table does not state the length."""

    address: int
    size: int
    name: str


@dataclass(frozen=True)
class ThreadLocalSegment:
    """The segment of thread-local data (PT_TLS), of which each thread has a copy: linked address, bytes of the copy,
    and its alignment."""

    address: int
    size: int
    alignment: int


@dataclass(frozen=True)
class Load:
    """A loaded part: its place in the file, linked address, bytes in the file, and bytes in memory."""

    offset: int
    address: int
    size: int
    memory: int


class Elf:
    """One file. content: its bytes, if they are not to be read from the path. UserError: the file is not a 64-bit
    little-endian ELF file, or it is cut short."""

    def __init__(self, path: Path, content: bytes | mmap.mmap | None = None) -> None:
        self.path = path
        self.content = path.read_bytes() if content is None else content
        if self.content[: len(_IDENT)] != _IDENT:
            raise UserError(f"{path}: is not a 64-bit little-endian ELF file")
        try:
            self._sections = list(self._read_sections())
        except (struct.error, ValueError, IndexError, OverflowError):
            raise UserError(f"{path}: the file is truncated: its section headers are incomplete") from None
        self.sections = {section.name: section for section in self._sections}

    def section(self, name: str) -> bytes:
        """The bytes of a section. UserError: the file has no such section."""
        if name not in self.sections:
            raise UserError(f"{self.path}: the ELF file has no section {name}")
        return self._bytes(self.sections[name])

    def functions(self) -> list[Symbol]:
        """Functions by address, from .symtab, or from .dynsym if the file was stripped. Indirect functions are left
        out: their symbols stand for code that selects a function, not for the function."""
        return self._symbols(_FUNCTION)

    def objects(self) -> list[Symbol]:
        """Variables by address, from .symtab, or from .dynsym if the file was stripped."""
        return self._symbols(_OBJECT)

    def thread_locals(self) -> list[Symbol]:
        """Thread-local variables by their offset in the segment, from .symtab, or from .dynsym if the file was
        stripped."""
        return self._symbols(_THREAD_LOCAL)

    @property
    def thread_local_segment(self) -> ThreadLocalSegment | None:
        """None if the file has no thread-local data."""
        found = (segment for segment in self._segments() if segment.kind == _TLS)
        return next((ThreadLocalSegment(each.address, each.memory, each.alignment) for each in found), None)

    def unwound(self) -> list[tuple[int, int]]:
        """First address and end of each function, also of functions without a name, from the unwinder's tables
        (.eh_frame_hdr, .eh_frame). Empty if the file has no tables of the usual form."""
        if not {".eh_frame_hdr", ".eh_frame"} <= self.sections.keys():
            return []
        table, frames = self.sections[".eh_frame_hdr"], self.sections[".eh_frame"]
        data, entries = self._bytes(table), self._bytes(frames)
        if data[:4] != _SORTED_TABLE:
            return []
        (count,) = struct.unpack_from("<I", data, 8)
        found = []
        for begin, entry in struct.iter_unpack("<ii", data[12 : 12 + 8 * count]):
            at = table.address + entry - frames.address
            if not 0 <= at <= len(entries) - _FRAME_ENTRY.size:
                continue
            _, _, relative, size = _FRAME_ENTRY.unpack_from(entries, at)
            if table.address + entry + _FIRST_ADDRESS + relative == table.address + begin:
                found.append((table.address + begin, table.address + begin + size))
        return found

    @property
    def build_id(self) -> str:
        """The build ID in hexadecimal, which the linker computes from the file's content; empty if there is none."""
        notes = (note for section in self._sections if section.kind == _NOTE for note in _notes(self._bytes(section)))
        return next((content.hex() for owner, kind, content in notes if (owner, kind) == (_GNU, _BUILD_ID)), "")

    def section_at(self, address: int) -> str:
        """The name of the section that is linked to the address; empty if there is none."""
        inside = (
            s.name for s in self._sections if s.address and not s.thread_local and 0 <= address - s.address < s.size
        )
        return next(inside, "")

    def loaded(self, offset: int) -> int | None:
        """The address to which a byte of the file is linked; None if the byte is not loaded."""
        for segment in self._segments():
            if segment.kind == _LOAD and segment.offset <= offset < segment.offset + segment.length:
                return segment.address + offset - segment.offset
        return None

    def loads(self) -> list[Load]:
        """The parts of the file that are loaded, by address."""
        found = [Load(*each[1:5]) for each in self._segments() if each.kind == _LOAD]
        return sorted(found, key=lambda load: load.address)

    def offset(self, address: int) -> int | None:
        """The place in the file of a byte that is linked to the address; None if the file does not hold it."""
        for segment in self._segments():
            if segment.kind == _LOAD and segment.address <= address < segment.address + segment.length:
                return segment.offset + address - segment.address
        return None

    def _segments(self) -> Iterator[_Segment]:
        (table,) = struct.unpack_from("<Q", self.content, 32)
        size, count = struct.unpack_from("<HH", self.content, 54)
        for place in range(count):
            kind, _, offset, address, _, *rest = _SEGMENT.unpack_from(self.content, table + size * place)
            yield _Segment(kind, offset, address, *rest)

    def stripped(self) -> bool:
        """Whether the file has dynamic symbols only."""
        return not any(section.kind == _SYMTAB for section in self._sections)

    def _symbols(self, kind: int) -> list[Symbol]:
        for table in (_SYMTAB, _DYNSYM):
            tables = (section for section in self._sections if section.kind == table)
            found = [symbol for section in tables for symbol in self._in_table(section, kind)]
            if found:
                return sorted(found, key=lambda symbol: (symbol.address, symbol.name))
        return []

    def _in_table(self, table: Section, kind: int) -> Iterator[Symbol]:
        names = self._bytes(self._sections[table.link])
        for name, info, _, index, value, size in _SYMBOL.iter_unpack(self._bytes(table)):
            if info & 15 == kind and index:
                yield Symbol(value, size, _text(names, name))

    def _bytes(self, section: Section) -> bytes:
        return b"" if section.kind == _NOBITS else self.content[section.offset : section.offset + section.size]

    def _read_sections(self) -> Iterator[Section]:
        (table,) = struct.unpack_from("<Q", self.content, 40)
        size, count, names_at = struct.unpack_from("<HHH", self.content, 58)
        raw = [_SECTION.unpack_from(self.content, table + size * i) for i in range(count)]
        if not raw:
            return
        names = self.content[raw[names_at][4] : raw[names_at][4] + raw[names_at][5]]
        for name, kind, flags, address, offset, length, link, *_ in raw:
            yield Section(_text(names, name), kind, address, offset, length, link, flags)


def mapped(path: Path) -> Elf:
    """A large file, of which only those parts are read that are needed."""
    with path.open("rb") as file:
        return Elf(path, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))


def _notes(content: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """The owner, type and content of each note of a section."""
    at = 0
    while at + _NOTE_HEAD.size <= len(content):
        owner, size, kind = _NOTE_HEAD.unpack_from(content, at)
        begin = at + _NOTE_HEAD.size + (owner + 3 & ~3)
        yield content[at + _NOTE_HEAD.size : at + _NOTE_HEAD.size + owner], kind, content[begin : begin + size]
        at = begin + (size + 3 & ~3)


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode("utf-8", "replace")
