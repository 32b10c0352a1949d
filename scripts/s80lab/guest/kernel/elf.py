# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads sections and symbol tables of ELF files (x86-64, little-endian)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError

# System V ABI, Object files: e_ident, section types, symbol types.
_IDENT = b"\x7fELF\x02\x01"
_SYMTAB, _NOBITS, _DYNSYM = 2, 8, 11
_FUNCTION, _INDIRECT = 2, 10
_LOAD = 1
# LSB core, exception frames: version, and how the words of a sorted table are encoded.
_SORTED_TABLE = bytes((1, 0x1B, 0x03, 0x3B))
_SECTION, _SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")


@dataclass(frozen=True)
class Section:
    """A section: linked address, offset in the file, and length in bytes."""

    name: str
    kind: int
    address: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Function:
    address: int
    size: int
    name: str


class Elf:
    """One file, in memory. UserError: the file is not a 64-bit little-endian ELF file, or it is cut short."""

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path = path
        self.content = path.read_bytes() if content is None else content
        if not self.content.startswith(_IDENT):
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

    def functions(self) -> list[Function]:
        """Functions by address, from .symtab, or from .dynsym if the file was stripped."""
        for kind in (_SYMTAB, _DYNSYM):
            found = [f for section in self._sections if section.kind == kind for f in self._functions(section)]
            if found:
                return sorted(found, key=lambda f: (f.address, f.name))
        return []

    def begins(self) -> list[int]:
        """Addresses at which functions begin, including functions without a name, from the unwinder's table
        (.eh_frame_hdr)."""
        if ".eh_frame_hdr" not in self.sections:
            return []
        section = self.sections[".eh_frame_hdr"]
        data = self._bytes(section)
        if data[:4] != _SORTED_TABLE:
            return []
        (count,) = struct.unpack_from("<I", data, 8)
        return [section.address + begin for begin, _ in struct.iter_unpack("<ii", data[12 : 12 + 8 * count])]

    def loaded(self, offset: int) -> int | None:
        """The address to which a byte of the file is linked; None if the byte is not loaded."""
        for kind, begin, address, size in self._segments():
            if kind == _LOAD and begin <= offset < begin + size:
                return address + offset - begin
        return None

    def _segments(self) -> Iterator[tuple[int, int, int, int]]:
        """(type, offset, address, bytes in the file) of each program header."""
        (table,) = struct.unpack_from("<Q", self.content, 32)
        size, count = struct.unpack_from("<HH", self.content, 54)
        for place in range(count):
            kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", self.content, table + size * place)
            yield kind, offset, address, length

    def stripped(self) -> bool:
        """Whether the file has dynamic symbols only."""
        return not any(section.kind == _SYMTAB for section in self._sections)

    def _functions(self, table: Section) -> Iterator[Function]:
        names = self._bytes(self._sections[table.link])
        for name, info, _, index, value, size in _SYMBOL.iter_unpack(self._bytes(table)):
            if info & 15 in (_FUNCTION, _INDIRECT) and index:
                yield Function(value, size, _text(names, name))

    def _bytes(self, section: Section) -> bytes:
        return b"" if section.kind == _NOBITS else self.content[section.offset : section.offset + section.size]

    def _read_sections(self) -> Iterator[Section]:
        (table,) = struct.unpack_from("<Q", self.content, 40)
        size, count, names_at = struct.unpack_from("<HHH", self.content, 58)
        raw = [_SECTION.unpack_from(self.content, table + size * i) for i in range(count)]
        if not raw:
            return
        names = self.content[raw[names_at][4] : raw[names_at][4] + raw[names_at][5]]
        for name, kind, _, address, offset, length, link, *_ in raw:
            yield Section(_text(names, name), kind, address, offset, length, link)


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode("utf-8", "replace")
