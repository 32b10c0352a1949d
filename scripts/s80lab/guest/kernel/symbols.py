# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the kernel's own symbol table (kallsyms) from its ELF file, which has no other symbol table.

The layout is that of Linux 5.x to 6.3, scripts/kallsyms.c. The section .rodata holds, in this order and each aligned
to 8 bytes: the offsets, their base, the number of symbols, the packed names, a marker for every 256 names, and the
tokens with which the names are packed. No symbol gives the address of the table, so this module searches for its form.
"""

from __future__ import annotations

import itertools
import re
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from s80lab.base.errors import UserError
from s80lab.guest.kernel.elf import Elf

_DIGITS = b"".join(bytes((digit, 0)) for digit in b"0123456789")
_TOKENS, _MARKED = 256, 256
_LONGEST_TOKENS = 8192
_FEWEST, _MOST = 1000, 1 << 20
_MOST_CALLS = 1024
_CALL = re.compile(r"__x64_(?:compat_)?sys_(\w+)")


@dataclass(frozen=True)
class Symbol:
    """kind: the letter that nm prints; a lower-case letter is a local symbol."""

    address: int
    kind: str
    name: str


@dataclass
class Symbols:
    """All symbols by address. Addresses below `per_cpu_end` are offsets into the per-CPU areas."""

    all: list[Symbol]
    per_cpu_end: int = field(init=False)

    def __post_init__(self) -> None:
        self.all.sort(key=lambda symbol: (symbol.address, symbol.name))
        # Of one name, a global symbol goes before local ones.
        self._by_name = {s.name: s for s in sorted(self.all, key=lambda s: s.kind.isupper())}
        self.per_cpu_end = self._by_name["__per_cpu_end"].address if "__per_cpu_end" in self._by_name else 0
        self.placed = [symbol for symbol in self.all if symbol.address >= self.per_cpu_end]
        self._per_cpu = [symbol for symbol in self.all if symbol.address < self.per_cpu_end]
        self._addresses = {id(part): [s.address for s in part] for part in (self.placed, self._per_cpu)}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def address(self, name: str) -> int:
        """The address of a symbol. UserError: the kernel has no such symbol."""
        if name not in self._by_name:
            raise UserError(
                f"the guest's kernel has no symbol `{name}`, which s80lab needs: use a supported kernel, for "
                "example Debian's"
            )
        return self._by_name[name].address

    def find(self, address: int) -> tuple[Symbol, int] | None:
        """The last symbol at or before the address, and the distance from the symbol to the address."""
        return self._last_until(self.placed, address)

    def per_cpu_at(self, offset: int) -> tuple[Symbol, int] | None:
        """The last symbol at or before an offset into the per-CPU area, and the distance."""
        return self._last_until(self._per_cpu, offset)

    def _last_until(self, part: list[Symbol], address: int) -> tuple[Symbol, int] | None:
        place = bisect_right(self._addresses[id(part)], address) - 1
        return (part[place], address - part[place].address) if place >= 0 else None

    def text(self) -> str:
        """All symbols, one `address kind name` per line, in the format of /proc/kallsyms."""
        return "".join(f"{s.address:016x} {s.kind} {s.name}\n" for s in self.all)


def from_text(lines: Iterable[str]) -> Symbols:
    """Read the text that `Symbols.text` wrote."""
    parts = (line.split() for line in lines)
    return Symbols([Symbol(int(address, 16), kind, name) for address, kind, name in parts])


def read_symbols(elf: Elf) -> Symbols:
    """Read the symbols of a kernel. UserError: it has no symbol table of this form."""
    data = elf.section(".rodata")
    for table, index in _token_tables(data):
        tokens = [data[table + i : data.index(b"\0", table + i)].decode("latin-1") for i in index]
        for names, count, base in _name_tables(data, table):
            offsets = struct.unpack_from(f"<{count}i", data, names - 16 - (count * 4 + 7 & ~7))
            packed = (text for _, text in _walk(data, names, count))
            found = ("".join(tokens[token] for token in text) for text in packed)
            # CONFIG_KALLSYMS_ABSOLUTE_PERCPU: not negative, it is a per-CPU symbol's value; else it is from the base.
            addresses = (offset if offset >= 0 else base - 1 - offset for offset in offsets)
            return Symbols([Symbol(a, name[0], name[1:]) for a, name in zip(addresses, found, strict=True)])
    raise UserError(
        f"{elf.path}: the kernel contains no symbol table (kallsyms) that s80lab can read: use a kernel of "
        "Linux 5.x to 6.3 with CONFIG_KALLSYMS"
    )


def system_calls(elf: Elf, symbols: Symbols) -> list[str]:
    """Names of the system calls by number, from the table of their functions (`__x64_sys_read` is read)."""
    rodata = elf.sections[".rodata"]
    begin = symbols.address("sys_call_table") - rodata.address
    names = []
    for (address,) in struct.iter_unpack("<Q", elf.section(".rodata")[begin : begin + 8 * _MOST_CALLS]):
        found = symbols.find(address)
        if found is None or found[1] or not (match := _CALL.fullmatch(found[0].name)):
            break
        names.append(match[1])
    return names


def _token_tables(data: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The addresses of the tokens and of their index. They are found by the digits, which are tokens themselves."""
    at = -1
    while (at := data.find(_DIGITS, at + 1)) >= 0:
        for place in range(at + 7 & ~7, min(at + _LONGEST_TOKENS, len(data) - 2 * _TOKENS), 8):
            index = struct.unpack_from(f"<{_TOKENS}H", data, place)
            if index[0] == 0 and all(a < b for a, b in itertools.pairwise(index)):
                table = at - index[ord("0")]
                if table > 0 and all(data[table + i - 1] == 0 for i in index[1:]):
                    yield table, index


def _name_tables(data: bytes, end: int) -> Iterator[tuple[int, int, int]]:
    """(begin of the names, number of names, base of the offsets) of a table before `end` whose markers are right."""
    for names in range(end & ~7, 16, -8):
        base, count = struct.unpack_from("<QQ", data, names - 16)
        if base >> 31 != 0x1_FFFF_FFFF or not _FEWEST < count < _MOST:
            continue
        places, after = [], names
        for place, text in _walk(data, names, count):
            places.append(place - names)
            after = place + len(text) + (1 if len(text) < 0x80 else 2)
        marks = places[::_MARKED]
        if len(places) == count and after <= end:
            markers = after + 7 & ~7
            if struct.unpack_from(f"<{len(marks)}I", data, markers) == tuple(marks):
                yield names, count, base


def _walk(data: bytes, at: int, count: int) -> Iterator[tuple[int, bytes]]:
    """The place and the tokens of each packed name. The length of a name takes one byte, or two from 128 on."""
    for _ in range(count):
        if at + 2 > len(data):
            return
        length, head = data[at], 1
        if length & 0x80:
            length, head = length & 0x7F | data[at + 1] << 7, 2
        yield at, data[at + head : at + head + length]
        at += head + length
