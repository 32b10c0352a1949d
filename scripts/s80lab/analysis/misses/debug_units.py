# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds variables in debug information (DWARF 4 and 5) without reading all of it.

pyelftools reads sections, abbreviations and entries (DIEs). It takes about 20 us for an entry, and a large file has
millions. Two steps precede it:

1. A search for the bytes of addresses tells which units can have a variable at an address: a location is the operation
   DW_OP_addr and the eight bytes of the address, or an index into .debug_addr, which has the eight bytes.
2. A walk over such a unit adds the lengths of attributes, which the abbreviations state, and looks at nothing but the
   locations of variables. The walk also records the scopes of the unit, from which names are qualified.

A damaged unit ends the walk. What the walk found before is kept.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from typing import NamedTuple

from elftools.dwarf.abbrevtable import AbbrevDecl
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DebugSectionDescriptor, DWARFInfo
from elftools.elf.elffile import ELFFile

from s80lab.guest.kernel.elf import Elf

# Steps over an attribute whose length is not fixed.
_ULEB, _STRING, _BLOCK1, _BLOCK2, _BLOCK4, _BLOCK, _LOCATION, _LOCATION1, _SIBLING = range(-1, -10, -1)
_STEPS = {
    **dict.fromkeys(("implicit_const", "flag_present"), 0),
    **dict.fromkeys(("addrx1", "data1", "flag", "ref1", "strx1"), 1),
    **dict.fromkeys(("addrx2", "data2", "ref2", "strx2"), 2),
    **dict.fromkeys(("addrx3", "strx3"), 3),
    **dict.fromkeys(("addrx4", "data4", "ref4", "ref_sup4", "strx4"), 4),
    **dict.fromkeys(("data8", "ref8", "ref_sup8", "ref_sig8"), 8),
    "data16": 16,
    **dict.fromkeys(("addrx", "loclistx", "ref_udata", "rnglistx", "sdata", "strx", "udata"), _ULEB),
    **dict.fromkeys(("GNU_addr_index", "GNU_str_index"), _ULEB),
    "string": _STRING,
    "block1": _BLOCK1,
    "block2": _BLOCK2,
    "block4": _BLOCK4,
    **dict.fromkeys(("block", "exprloc"), _BLOCK),
}
# Forms that are as long as an offset: 4 bytes, or 8 in 64-bit DWARF.
_OFFSETS = ("strp", "line_strp", "sec_offset", "ref_addr", "strp_sup", "GNU_strp_alt", "GNU_ref_alt")

SUBPROGRAM = "DW_TAG_subprogram"
_COMPOSITES = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_SCOPES = (*_COMPOSITES, "DW_TAG_namespace", "DW_TAG_module", SUBPROGRAM, "DW_TAG_enumeration_type")
# What an entry is to the walk: bits.
_IS_VARIABLE, _IS_SCOPE, _IS_FUNCTION = 1, 2, 4

# Operations of a location: DWARF 5, section 7.7.1, and GNU extensions.
_ADDRESS, _PLUS, _PIECE = 0x03, 0x23, 0x93
_INDEXED = (0xA1, 0xFB)
_CONSTANTS = {0x08: 1, 0x0A: 2, 0x0C: 4, 0x0E: 8}
_CONSTANT_ULEB = 0x10
_THREAD_LOCAL = (0x9B, 0xE0)
# A user address has at most 47 bits; linked addresses beyond 1 TiB are not expected.
_OF_ADDRESS = re.compile(rb"\x03(?=(.{5})\0\0\0)", re.DOTALL)
_OF_THREAD_LOCAL = re.compile(rb"\x0e(?=(.{5})\0\0\0[\x9b\xe0])", re.DOTALL)
# Variables before an address that are tried; those nearest to the address may be smaller than their distance.
_TRIED = 4


@dataclass(frozen=True)
class Static:
    """A variable, or a part of a variable, at a fixed place. address: linked address, or offset in the segment of
    thread-local data. part: bytes before this part in the variable. entry: offset of its entry in .debug_info."""

    address: int
    thread_local: bool
    part: int
    entry: int


class Scope(NamedTuple):
    """A namespace, type or function that encloses entries. outer: number of the scope around it, or -1."""

    begin: int
    outer: int


@dataclass
class Walked:
    """What the walk over a unit found. ends: for each scope, the offset behind its last entry."""

    variables: list[Static] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @cached_property
    def _begins(self) -> list[int]:
        return [scope.begin for scope in self.scopes]

    def enclosing(self, entry: int) -> int | None:
        """The entry of the innermost scope that contains an entry; None if no scope contains the entry."""
        place = bisect_left(self._begins, entry) - 1
        while place >= 0 and self.ends[place] <= entry:
            place = self.scopes[place].outer
        return self.scopes[place].begin if place >= 0 else None


class _Shape(NamedTuple):
    """How the walk steps over an entry: bytes if all attributes have fixed lengths, else its steps."""

    size: int
    steps: tuple[int, ...] | None
    kind: int
    children: bool


class Units:
    """The debug information of a file. ValueError: the file has none that can be read."""

    def __init__(self, elf: Elf) -> None:
        stream = BytesIO(elf.content) if isinstance(elf.content, bytes) else elf.content
        self.info: DWARFInfo = ELFFile(stream).get_dwarf_info(False, False)  # type: ignore[arg-type]
        self._data = _content(self.info.debug_info_sec)
        if not self._data:
            raise ValueError(f"{elf.path} has no debug information")
        sections = (section for section in elf.sections.values() if section.address and not section.thread_local)
        self._placed = [section for section in sections if not section.executable]
        segment = elf.thread_local_segment
        self._thread_local_size = segment.size if segment else 0
        self._units = list(self._read_units())
        if not self._units:
            raise ValueError(f"the debug information of {elf.path} is damaged or has an unsupported version")
        self._begins = [unit.cu_offset for unit in self._units]
        self._walked: dict[int, Walked] = {}
        self._shapes: dict[tuple[int, int, int, int], dict[int, _Shape]] = {}
        self._entries: dict[int, DIE] = {}
        self._found: dict[bool, dict[int, list[Static]]] = {False: {}, True: {}}
        self._sorted: dict[bool, list[int]] = {}
        self._candidate_places: dict[bool, list[int]] = {}

    def before(self, address: int, thread_local: bool) -> Iterator[Static]:
        """The variables that begin at the address or at one of the next lower places, from the nearest on."""
        if thread_local not in self._sorted:
            self._sorted[thread_local] = sorted(self._found[thread_local])
        places = self._sorted[thread_local]
        last = bisect_right(places, address)
        for place in reversed(places[max(0, last - _TRIED) : last]):
            yield from sorted(self._found[thread_local][place], key=lambda static: static.entry)

    def expand(self, ranges: Iterable[tuple[int, int]], thread_local: bool) -> None:
        """Walks over the units that can have a variable that begins in a range and contains the range's last address.
        The first address of a range is the begin of a symbol, or 0."""
        units: set[int] = set()
        candidates = self._thread_local_candidates if thread_local else self._candidates
        if thread_local not in self._candidate_places:
            self._candidate_places[thread_local] = sorted(candidates)
        places = self._candidate_places[thread_local]
        for lowest, address in ranges:
            if lowest in candidates:
                units.update(candidates[lowest])
                continue
            last = bisect_right(places, address)
            for place in places[max(0, last - _TRIED) : last]:
                if place >= lowest:
                    units.update(candidates[place])
        for number in sorted(units):
            self.walk(self._units[number])

    def entry(self, offset: int) -> DIE:
        """The entry at an offset of .debug_info."""
        if offset not in self._entries:
            unit = self._units[self._number(offset)]
            top = unit.get_top_DIE()
            self._entries[offset] = DIE(unit, top.stream, offset)
        return self._entries[offset]

    def children(self, entry: DIE) -> Iterator[DIE]:
        """The direct children of an entry. A damaged sibling attribute cannot lead back."""
        unit = self._units[self._number(entry.offset)]
        at, end = entry.offset + entry.size, unit.cu_offset + unit.size
        while entry.has_children and at < end:
            child = self.entry(at)
            if child.tag is None:
                return
            yield child
            at = self._skip(unit, at, end)

    def scope(self, entry: DIE) -> DIE | None:
        """The namespace, type or function around an entry."""
        unit = self._units[self._number(entry.offset)]
        begin = self.walk(unit).enclosing(entry.offset)
        return None if begin is None else self.entry(begin)

    def of_signature(self, signature: int) -> DIE | None:
        """The type of a type unit of DWARF 5."""
        offset = self._signatures.get(signature)
        return None if offset is None else self.entry(offset)

    def walk(self, unit: CompileUnit) -> Walked:
        """Variables, scopes and types of a unit. Each unit is walked once."""
        if unit.cu_offset not in self._walked:
            walked = Walked()
            self._walked[unit.cu_offset] = walked
            with suppress(Exception):  # pyelftools raises many kinds of errors on damaged data
                self._walk(unit, walked)
            end = unit.cu_offset + unit.size
            walked.ends = [each or end for each in walked.ends]
            for static in walked.variables:
                self._found[static.thread_local].setdefault(static.address, []).append(static)
            self._sorted.clear()
        return self._walked[unit.cu_offset]

    def _walk(self, unit: CompileUnit, walked: Walked) -> None:
        data, shapes = self._data, self._shapes_of(unit)
        at, end = unit.cu_die_offset, min(unit.cu_offset + unit.size, len(self._data))
        scopes, ends, outer = walked.scopes, walked.ends, -1
        around: list[int] = []
        while at < end:
            here, code = at, data[at]
            at += 1
            if code > 127:
                code, at = _uleb(data, here)
            if not code:
                if around:
                    inner, outer = outer, around.pop()
                    if inner != outer:
                        ends[inner] = at
                continue
            size, steps, kind, children = shapes[code]
            sibling = 0
            if steps is None:
                at += size
            else:
                for step in steps:
                    if step >= 0:
                        at += step
                    elif step == _SIBLING:
                        sibling = unit.cu_offset + int.from_bytes(data[at : at + 4], "little")
                        at += 4
                    else:
                        begin, at = _step(data, at, step)
                        if step in (_LOCATION, _LOCATION1):
                            walked.variables += self._statics(unit, here, data[begin:at])
            if not children:
                continue
            skipped = kind & _IS_FUNCTION and at < sibling <= end and not self._has_candidate(at, sibling)
            if not skipped:
                around.append(outer)
            if kind & _IS_SCOPE:
                scopes.append(Scope(here, outer))
                ends.append(sibling if skipped else 0)
                outer = outer if skipped else len(scopes) - 1
            if skipped:
                at = sibling

    def _skip(self, unit: CompileUnit, at: int, end: int) -> int:
        """The offset behind an entry and all entries that it encloses."""
        data, shapes, depth = self._data, self._shapes_of(unit), 0
        while at < end:
            code, at = _uleb(data, at)
            if not code:
                depth -= 1
            else:
                size, steps, _, children = shapes[code]
                if steps is None:
                    at += size
                else:
                    sibling = 0
                    for step in steps:
                        if step == _SIBLING:
                            sibling = unit.cu_offset + int.from_bytes(data[at : at + 4], "little")
                            at += 4
                        else:
                            at = at + step if step >= 0 else _step(data, at, step)[1]
                    if children and at < sibling <= end:
                        at, children = sibling, False
                depth += children
            if depth <= 0:
                return at
        return end

    def _statics(self, unit: CompileUnit, entry: int, location: bytes) -> Iterator[Static]:
        """The places that a location names. A computed place, a value, or a register has none."""
        at, part, place, thread_local = 0, 0, None, False
        while at < len(location):
            operation, at = location[at], at + 1
            if operation == _ADDRESS:
                place, at = int.from_bytes(location[at : at + 8], "little"), at + 8
            elif operation in _CONSTANTS:
                size = _CONSTANTS[operation]
                place, at = int.from_bytes(location[at : at + size], "little"), at + size
            elif operation == _CONSTANT_ULEB:
                place, at = _uleb(location, at)
            elif operation in _INDEXED:
                index, at = _uleb(location, at)
                place = self._indexed(unit, index)
            elif operation in _THREAD_LOCAL:
                thread_local = True
            elif operation == _PLUS and place is not None:
                more, at = _uleb(location, at)
                place += more
            elif operation == _PIECE:
                size, at = _uleb(location, at)
                if place is not None:
                    yield Static(place, thread_local, part, entry)
                part, place, thread_local = part + size, None, False
            else:
                return
        if place is not None:
            yield Static(place, thread_local, part, entry)

    def _indexed(self, unit: CompileUnit, index: int) -> int | None:
        base = _base(unit, "DW_AT_addr_base")
        table = _content(self.info.debug_addr_sec)
        at = (base or 0) + 8 * index
        return int.from_bytes(table[at : at + 8], "little") if at + 8 <= len(table) else None

    @cached_property
    def _candidates(self) -> Mapping[int, set[int]]:
        """For each address that a location may name, the numbers of the units."""
        found: dict[int, set[int]] = {}
        for offset, address in self._named_addresses:
            found.setdefault(address, set()).add(self._number(offset))
        table = _content(self.info.debug_addr_sec)
        for place in range(0, len(table) - 7, 8):
            address = int.from_bytes(table[place : place + 8], "little")
            number = self._unit_of_base("DW_AT_addr_base", place) if self._is_placed(address) else None
            if number is not None:
                found.setdefault(address, set()).add(number)
        return found

    @cached_property
    def _thread_local_candidates(self) -> Mapping[int, set[int]]:
        found: dict[int, set[int]] = {}
        for match in _OF_THREAD_LOCAL.finditer(self._data):
            offset = int.from_bytes(match[1], "little")
            if offset < self._thread_local_size:
                found.setdefault(offset, set()).add(self._number(match.start()))
        return found

    @cached_property
    def _named_addresses(self) -> list[tuple[int, int]]:
        """(offset in .debug_info, address) of everything that looks like the operation DW_OP_addr."""
        lowest = min((section.address for section in self._placed), default=0)
        highest = max((section.address + section.size for section in self._placed), default=0)
        found = []
        for match in _OF_ADDRESS.finditer(self._data):
            address = int.from_bytes(match[1], "little")
            if lowest <= address < highest and self._is_placed(address):
                found.append((match.start(), address))
        return found

    @cached_property
    def _candidate_offsets(self) -> list[int]:
        """Offsets in .debug_info of what looks like the location of a variable."""
        own = [offset for offset, _ in self._named_addresses]
        return sorted(own + [match.start() for match in _OF_THREAD_LOCAL.finditer(self._data)])

    def _has_candidate(self, begin: int, end: int) -> bool:
        place = bisect_left(self._candidate_offsets, begin)
        return place < len(self._candidate_offsets) and self._candidate_offsets[place] < end

    def _is_placed(self, address: int) -> bool:
        return any(0 <= address - section.address < section.size for section in self._placed)

    def _number(self, offset: int) -> int:
        """The number of the unit that has an offset of .debug_info."""
        return max(0, bisect_right(self._begins, offset) - 1)

    def _unit_of_base(self, attribute: str, place: int) -> int | None:
        """The number of the unit whose part of a table has a place."""
        bases = self._bases(attribute)
        index = bisect_right(bases, (place, len(self._units))) - 1
        return bases[index][1] if index >= 0 else None

    def _bases(self, attribute: str) -> list[tuple[int, int]]:
        if attribute not in self._of_bases:
            bases = ((_base(unit, attribute), number) for number, unit in enumerate(self._units))
            self._of_bases[attribute] = sorted((base, number) for base, number in bases if base is not None)
        return self._of_bases[attribute]

    @cached_property
    def _of_bases(self) -> dict[str, list[tuple[int, int]]]:
        return {}

    @cached_property
    def _signatures(self) -> dict[int, int]:
        return {
            unit["type_signature"]: unit.cu_offset + unit["type_offset"]
            for unit in self._units
            if unit.header.get("unit_type") == "DW_UT_type"
        }

    def _read_units(self) -> Iterator[CompileUnit]:
        try:
            yield from self.info.iter_CUs()
        except Exception:  # damaged: the units before it are kept
            return

    def _shapes_of(self, unit: CompileUnit) -> dict[int, _Shape]:
        header, structs = unit.header, unit.structs
        key = header["debug_abbrev_offset"], header["address_size"], structs.dwarf_format, header["version"]
        if key not in self._shapes:
            offset = structs.dwarf_format // 8
            steps = {**_STEPS, **dict.fromkeys(_OFFSETS, offset), "addr": header["address_size"]}
            self._shapes[key] = {}
            table = unit.get_abbrev_table()
            for code, declaration in table._abbrev_map.items():
                self._shapes[key][code] = _shape(declaration, steps)
        return self._shapes[key]


def _shape(declaration: AbbrevDecl, steps: Mapping[str, int]) -> _Shape:
    """KeyError for a form that is not known."""
    tag = declaration["tag"]
    kind = _IS_VARIABLE * (tag == "DW_TAG_variable") | _IS_SCOPE * (tag in _SCOPES) | _IS_FUNCTION * (tag == SUBPROGRAM)
    found = [0]
    for attribute in declaration["attr_spec"]:
        step = steps[str(attribute.form).removeprefix("DW_FORM_")]
        if attribute.name == "DW_AT_location" and kind & _IS_VARIABLE:
            step = {_BLOCK: _LOCATION, _BLOCK1: _LOCATION1}.get(step, step)
        if attribute.name == "DW_AT_sibling" and attribute.form == "DW_FORM_ref4":
            step = _SIBLING
        if step >= 0 and found[-1] >= 0:
            found[-1] += step
        else:
            found.append(step)
    fixed = len(found) == 1
    return _Shape(found[0], None if fixed else tuple(found), kind, declaration.has_children())


def _step(data: bytes, at: int, step: int) -> tuple[int, int]:
    """First byte and end of the content of an attribute without a fixed length."""
    if step == _ULEB:
        return at, _uleb(data, at)[1]
    if step == _STRING:
        return at, data.index(b"\0", at) + 1
    if step in (_BLOCK, _LOCATION):
        size, at = _uleb(data, at)
    else:
        bytes_of_size = {_BLOCK1: 1, _LOCATION1: 1, _BLOCK2: 2, _BLOCK4: 4}[step]
        size, at = int.from_bytes(data[at : at + bytes_of_size], "little"), at + bytes_of_size
    return at, at + size


def _uleb(data: bytes, at: int) -> tuple[int, int]:
    """A number in the form ULEB128, and the offset behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _base(unit: CompileUnit, attribute: str) -> int | None:
    try:
        attributes = unit.get_top_DIE().attributes
    except Exception:  # damaged
        return None
    found = attributes.get(attribute, attributes.get(attribute.replace("DW_AT_", "DW_AT_GNU_")))
    return found.value if found is not None and isinstance(found.value, int) else None


def _content(section: DebugSectionDescriptor | None) -> bytes:
    if section is None:
        return b""
    if isinstance(section.stream, BytesIO):
        return section.stream.getvalue()
    section.stream.seek(0)
    return section.stream.read()


def constant_offset(location: object) -> int | None:
    """Bytes from the begin of a structure to a member, as a number or as the operation DW_OP_plus_uconst."""
    if isinstance(location, int):
        return location
    if isinstance(location, list) and location[:1] == [_PLUS]:
        try:
            return _uleb(bytes(location), 1)[0]
        except (IndexError, ValueError):
            return None
    return None
