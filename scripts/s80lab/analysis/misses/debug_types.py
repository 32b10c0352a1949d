# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of types, and the field at an offset of a type, from debug information (DWARF 4 and 5).

Base classes and parts without a name add nothing to a path. If several members have the byte (unions, bit fields,
variants of Rust's enums), the path names the first one that has a named field there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE, AttributeValue

from s80lab.analysis.misses.debug_files import short_path
from s80lab.analysis.misses.debug_units import Units, constant_offset

_COMPOSITES = {
    "DW_TAG_structure_type": "struct",
    "DW_TAG_class_type": "class",
    "DW_TAG_union_type": "union",
}
_NAMED_AS = {
    "DW_TAG_restrict_type": "{}",
    "DW_TAG_immutable_type": "{}",
    "DW_TAG_packed_type": "{}",
    "DW_TAG_pointer_type": "{}*",
    "DW_TAG_reference_type": "{}&",
    "DW_TAG_rvalue_reference_type": "{}&&",
}
_QUALIFIERS = {"DW_TAG_const_type": "const", "DW_TAG_volatile_type": "volatile", "DW_TAG_atomic_type": "_Atomic"}
# What stands for another type: its fields are the fields of that type.
_SAME_FIELDS = (
    "DW_TAG_typedef",
    "DW_TAG_const_type",
    "DW_TAG_volatile_type",
    "DW_TAG_restrict_type",
    "DW_TAG_atomic_type",
    "DW_TAG_immutable_type",
    "DW_TAG_packed_type",
)
_POINTERS = ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type")
_ARRAY = "DW_TAG_array_type"
_POINTER_BYTES = 8
# Damaged debug information can refer in circles.
_DEEPEST = 48
_UNNAMED_NAMESPACE = "(anonymous namespace)"
_DWARF_5 = 5


class Member(NamedTuple):
    """A member of a structure: bytes from its begin. size: None if the type does not state it."""

    name: str
    offset: int
    size: int | None
    type: DIE | None


class Found(NamedTuple):
    """The field at an offset. rest: bytes behind the begin of the last part of the path that is known, where no field
    has the byte (padding); else 0. named: whether a field has the byte."""

    path: str
    rest: int
    named: bool


@dataclass
class Types:
    """The types of a file. A lookup in damaged debug information may raise any error of pyelftools."""

    units: Units
    _members: dict[int, list[Member]] = field(default_factory=dict)
    _sizes: dict[int, int | None] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)
    _files: dict[int, list[str]] = field(default_factory=dict)

    def name(self, type_: DIE | None, depth: int = 0) -> str:
        """The name of a type in the notation of C: `const counter[8]`."""
        if type_ is None:
            return "void"
        if type_.offset not in self._names:
            self._names[type_.offset] = self._name(type_, depth + 1)
        return self._names[type_.offset]

    def _name(self, type_: DIE, depth: int) -> str:
        if depth > _DEEPEST:
            return "?"
        if "DW_AT_name" in type_.attributes:
            return self.qualified(type_)
        tag = str(type_.tag)
        if tag == "DW_TAG_pointer_type" and self._is_function(type_):
            return "function*"
        if tag in _QUALIFIERS:
            return _qualified(self._target_name(type_, depth), _QUALIFIERS[tag])
        if tag in _NAMED_AS:
            return _NAMED_AS[tag].format(self._target_name(type_, depth))
        if tag == _ARRAY:
            counts = "".join(f"[{count or ''}]" for count in self._counts(type_))
            return f"{self._target_name(type_, depth)}{counts}"
        return _COMPOSITES.get(tag, tag.removeprefix("DW_TAG_").removesuffix("_type").replace("_", " "))

    def _target_name(self, type_: DIE, depth: int) -> str:
        target = self.target(type_)
        return "?" if target is None and "DW_AT_type" in type_.attributes else self.name(target, depth)

    def _is_function(self, pointer: DIE) -> bool:
        target = self.target(pointer)
        return target is not None and target.tag == "DW_TAG_subroutine_type"

    def qualified(self, entry: DIE, depth: int = 0) -> str:
        """The name of a variable, function or type with those of its namespaces, classes and function. Empty for an
        entry without a name."""
        origin = self._origin(entry)
        found = _text(entry.attributes.get("DW_AT_name")) or _text(origin.attributes.get("DW_AT_name"))
        if not found:
            return _UNNAMED_NAMESPACE if entry.tag == "DW_TAG_namespace" else ""
        scope = self.units.scope(origin) if depth < _DEEPEST else None
        while scope is not None and scope.tag == "DW_TAG_enumeration_type":
            scope = self.units.scope(scope)
        outer = self.qualified(scope, depth + 1) if scope is not None else ""
        if scope is not None and not outer:  # a nameless structure
            around = self.units.scope(scope)
            outer = self.qualified(around, depth + 1) if around is not None else ""
        return f"{outer}::{found}" if outer else found

    def target(self, entry: DIE) -> DIE | None:
        """The type of a variable or member, or the type to which a type refers. None: void, or a type in another
        file."""
        for each in (entry, self._origin(entry)):
            if "DW_AT_type" in each.attributes:
                found = self._referred(each, "DW_AT_type")
                # The declaration of a type that is in a type unit.
                moved = found is not None and "DW_AT_signature" in found.attributes
                return self._referred(found, "DW_AT_signature") or found if found and moved else found
        return None

    def source(self, entry: DIE) -> str:
        """`file.c:12`, where the entry is declared; empty if that is unknown."""
        line, file = (self._attribute(entry, name) for name in ("DW_AT_decl_line", "DW_AT_decl_file"))
        if line is None or file is None:
            return ""
        files = self._file_names(file[0])
        return f"{files[file[1]]}:{line[1]}" if 0 <= file[1] < len(files) and files[file[1]] else ""

    def size(self, type_: DIE | None, depth: int = 0) -> int | None:
        """Bytes of a type; None if that is unknown, as for an array without a length."""
        if type_ is None or depth > _DEEPEST:
            return None
        if type_.offset not in self._sizes:
            self._sizes[type_.offset] = self._size(type_, depth + 1)
        return self._sizes[type_.offset]

    def _size(self, type_: DIE, depth: int) -> int | None:
        stated = type_.attributes.get("DW_AT_byte_size")
        if stated is not None:
            return stated.value if isinstance(stated.value, int) else None
        if type_.tag in _POINTERS:
            return _POINTER_BYTES
        if type_.tag in (*_SAME_FIELDS, "DW_TAG_enumeration_type"):
            return self.size(self.target(type_), depth)
        if type_.tag == _ARRAY:
            size = self._stride(type_, depth)
            for count in self._counts(type_):
                size = None if size is None or not count else size * count
            return size
        return None

    def field(self, type_: DIE | None, offset: int, around: tuple[int, ...] = ()) -> Found:
        """The path from a type to the field at an offset: `hits`, `[3].head.next`. around: the entries of the types
        that contain the type; in damaged debug information, a type can contain itself."""
        depth = len(around)
        while type_ is not None and type_.tag in _SAME_FIELDS and depth < _DEEPEST:
            type_, depth = self.target(type_), depth + 1
        if type_ is None or depth >= _DEEPEST or type_.offset in around:
            return Found("", offset, False)
        if type_.tag == _ARRAY:
            return self._in_array(type_, offset, (*around, type_.offset))
        if type_.tag in _COMPOSITES:
            return self._in_composite(type_, offset, (*around, type_.offset))
        size = self.size(type_)
        named = size is not None and offset < size
        return Found("", 0 if named else offset, named)

    def _in_array(self, array: DIE, offset: int, around: tuple[int, ...]) -> Found:
        stride, counts = self._stride(array), self._counts(array)
        if stride is None or stride <= 0 or not counts:
            return Found("", offset, False)
        index, inside = divmod(offset, stride)
        indices: list[int] = []
        for count in reversed(counts[1:]):
            if not count:
                return Found("", offset, False)
            index, last = divmod(index, count)
            indices.insert(0, last)
        if counts[0] and index >= counts[0]:
            return Found("", offset, False)
        text = "".join(f"[{each}]" for each in (index, *indices))
        found = self.field(self.target(array), inside, around)
        return found._replace(path=joined(text, found.path))

    def _in_composite(self, composite: DIE, offset: int, around: tuple[int, ...]) -> Found:
        best = Found("", offset, False)
        for member in self.members(composite):
            inside = offset - member.offset
            if inside < 0 or (member.size is not None and inside >= member.size):
                continue
            found = self.field(member.type, inside, around)
            found = found._replace(path=joined(member.name, found.path))
            if found.named:
                return found
            if not best.path and member.size is not None:
                best = found
        return best

    def members(self, composite: DIE) -> list[Member]:
        """The members with a place in each object, base classes included, by their order in the source."""
        if composite.offset not in self._members:
            self._members[composite.offset] = list(self._read_members(composite))
        return self._members[composite.offset]

    def _read_members(self, composite: DIE) -> Iterator[Member]:
        for child in self.units.children(composite):
            if child.tag in ("DW_TAG_variant_part", "DW_TAG_variant"):
                yield from self._read_members(child)
            if child.tag not in ("DW_TAG_member", "DW_TAG_inheritance"):
                continue
            attributes = child.attributes
            if "DW_AT_external" in attributes or "DW_AT_declaration" in attributes:
                continue  # a static member
            place = self._place(child)
            if place is not None:
                name = _text(attributes.get("DW_AT_name")) if child.tag == "DW_TAG_member" else ""
                yield Member(name, *place, self.target(child))

    def _place(self, member: DIE) -> tuple[int, int | None] | None:
        """Offset and size of a member; None for a base class whose place is computed."""
        attributes = member.attributes
        type_ = self.target(member)
        location = attributes.get("DW_AT_data_member_location")
        offset = constant_offset(location.value) if location is not None else 0
        if offset is None:
            return None
        bits = attributes.get("DW_AT_bit_size")
        if bits is None:
            size = self.size(type_)
            return offset, size or None if type_ is not None and self._is_open(type_) else size
        if "DW_AT_data_bit_offset" in attributes:
            first = 8 * offset + attributes["DW_AT_data_bit_offset"].value
        elif "DW_AT_bit_offset" in attributes:  # DWARF 3: from the most significant bit of the storage unit
            unit = attributes.get("DW_AT_byte_size")
            size = unit.value if unit is not None else self.size(type_) or 0
            first = 8 * offset + 8 * size - _signed(attributes["DW_AT_bit_offset"]) - bits.value
        else:
            first = 8 * offset
        return first // 8, (first + bits.value - 1) // 8 - first // 8 + 1

    def _is_open(self, type_: DIE) -> bool:
        """Whether a type is an array without a length, which may be longer than the structure that it ends."""
        return type_.tag == _ARRAY and not all(self._counts(type_))

    def _counts(self, array: DIE) -> list[int | None]:
        """The elements in each dimension of an array; None or 0 if the array has no length."""
        found: list[int | None] = []
        for child in self.units.children(array):
            if child.tag != "DW_TAG_subrange_type":
                continue
            count, upper, lower = (
                child.attributes.get(name) for name in ("DW_AT_count", "DW_AT_upper_bound", "DW_AT_lower_bound")
            )
            if count is not None and isinstance(count.value, int):
                found.append(count.value)
            elif upper is not None and isinstance(upper.value, int):
                begin = lower.value if lower is not None and isinstance(lower.value, int) else 0
                # The upper bound of an array of length 0 is -1, in any number of bytes.
                found.append(0 if _is_minus_one(upper) else max(0, upper.value + 1 - begin))
            else:
                found.append(None)
        return found

    def _stride(self, array: DIE, depth: int = 0) -> int | None:
        stated = array.attributes.get("DW_AT_byte_stride")
        if stated is not None and isinstance(stated.value, int):
            return stated.value
        return self.size(self.target(array), depth)

    def _origin(self, entry: DIE) -> DIE:
        """The declaration that an entry completes; the entry if there is none."""
        for _ in range(_DEEPEST):
            name = next((n for n in ("DW_AT_specification", "DW_AT_abstract_origin") if n in entry.attributes), None)
            following = self._referred(entry, name) if name is not None else None
            if following is None:
                break
            entry = following
        return entry

    def _attribute(self, entry: DIE, name: str) -> tuple[DIE, int] | None:
        """A number of an entry, or else of its declaration, and the entry that has the number."""
        for each in (entry, self._origin(entry)):
            if name in each.attributes and isinstance(each.attributes[name].value, int):
                return each, each.attributes[name].value
        return None

    def _referred(self, entry: DIE, name: str) -> DIE | None:
        """The entry to which an attribute refers; None if the entry is in another file (dwz), or in .debug_types."""
        attribute = entry.attributes[name]
        form = attribute.form.removeprefix("DW_FORM_")
        if form in ("ref1", "ref2", "ref4", "ref8", "ref_udata"):
            return self.units.entry(entry.cu.cu_offset + attribute.raw_value)
        if form == "ref_addr":
            return self.units.entry(attribute.raw_value)
        return self.units.of_signature(attribute.raw_value) if form == "ref_sig8" else None

    def _file_names(self, entry: DIE) -> list[str]:
        """The names of the files of the entry's unit, by the numbers that entries use."""
        unit = entry.cu
        if not isinstance(unit, CompileUnit):
            return []
        if unit.cu_offset not in self._files:
            program = self.units.info.line_program_for_CU(unit)
            if program is None:
                return []
            build = _text(unit.get_top_DIE().attributes.get("DW_AT_comp_dir"))
            folders = [_decoded(folder) for folder in program.header["include_directory"]]
            first = []
            if program.header["version"] < _DWARF_5:  # number 0 of the folders is the folder of the build
                folders.insert(0, "")
                first = [""]
            names = []
            for file in program.header["file_entry"]:
                folder = folders[file.dir_index] if file.dir_index < len(folders) else ""
                names.append(short_path(str(PurePosixPath(build, folder, _decoded(file.name)))))
            self._files[unit.cu_offset] = first + names
        return self._files[unit.cu_offset]


def joined(outer: str, inner: str) -> str:
    """Two parts of a path: `stats` and `[3]`, `stats[3]` and `hits`."""
    return outer + inner if not outer or not inner or inner.startswith("[") else f"{outer}.{inner}"


def _qualified(name: str, qualifier: str) -> str:
    """A type with a qualifier, which the type of an array's elements may have already."""
    if name.endswith("*"):
        return f"{name} {qualifier}"
    return name if name.startswith(f"{qualifier} ") else f"{qualifier} {name}"


def _text(attribute: AttributeValue | None) -> str:
    return "" if attribute is None or not isinstance(attribute.value, bytes) else _decoded(attribute.value)


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _signed(attribute: AttributeValue) -> int:
    """A number that pyelftools has read as unsigned, but that may be negative."""
    bits = {"DW_FORM_data1": 8, "DW_FORM_data2": 16, "DW_FORM_data4": 32, "DW_FORM_data8": 64}.get(attribute.form, 64)
    value = int(attribute.value)
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _is_minus_one(attribute: AttributeValue) -> bool:
    # One and two bytes hold lengths of 256 and 65,536 as well.
    return attribute.value == -1 or (
        attribute.form in ("DW_FORM_data4", "DW_FORM_data8") and attribute.value in (0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF)
    )
