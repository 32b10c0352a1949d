# SPDX-License-Identifier: GPL-2.0-or-later
"""Layouts of the kernel's structures, from its type information (BTF, section .BTF).

The format is that of Linux, Documentation/bpf/btf.rst.

    types.field("task_struct.se.sum_exec_runtime").offset
    types.size("page"), types.enumerators("vm_event_item")
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from s80lab.base.errors import UserError

_MAGIC = 0xEB9F
_INT, _PTR, _ARRAY, _STRUCT, _UNION, _ENUM, _FWD, _TYPEDEF, _VOLATILE, _CONST, _RESTRICT = range(1, 12)
_FUNC, _FUNC_PROTO, _VAR, _DATASEC, _FLOAT, _DECL_TAG, _TYPE_TAG, _ENUM64 = range(12, 20)
_NAMES_FOR = (_TYPEDEF, _VOLATILE, _CONST, _RESTRICT, _TYPE_TAG)
_SIZED = (_INT, _STRUCT, _UNION, _ENUM, _ENUM64, _FLOAT)
# Bytes behind the 12 of each type: fixed, and for each of its `vlen` entries.
_FIXED = {_INT: 4, _ARRAY: 12, _VAR: 4, _DECL_TAG: 4}
_EACH = {_STRUCT: 12, _UNION: 12, _ENUM: 8, _FUNC_PROTO: 8, _DATASEC: 12, _ENUM64: 12}
_POINTER_BYTES = 8
_MOST_MEMBERS = 3
"""Members at one byte that `Types.path_in` lists; more would not tell which one was accessed."""
_FIRST_NAME = re.compile(r"[.\[]")


@dataclass(frozen=True)
class Field:
    """A part of a structure: offset in bytes, length, and number of its type. For an array: `count` elements."""

    offset: int
    size: int
    type: int
    count: int = 1

    @property
    def stride(self) -> int:
        return self.size // max(1, self.count)


class _Type(NamedTuple):
    kind: int
    name: str
    entries: int
    flag: bool
    value: int  # size in bytes, or the type that this one refers to
    at: int  # of what follows the 12 bytes


class Types:
    """The types of a kernel. Every lookup raises UserError if the kernel does not have the name."""

    def __init__(self, btf: bytes) -> None:
        magic, _, _, header, types, types_size, strings, strings_size = struct.unpack_from("<HBBIIIII", btf)
        if magic != _MAGIC:
            raise UserError(
                "the type information of the guest's kernel does not begin with the magic number of BTF: use "
                "a supported kernel, for example Debian's"
            )
        self._data = btf
        self._strings = btf[header + strings : header + strings + strings_size]
        self._types = [_Type(0, "void", 0, False, 0, 0), *self._read(header + types, header + types + types_size)]
        self._composites = {t.name: i for i, t in self._numbered(_STRUCT, _UNION) if t.name}
        self._enums = {t.name: i for i, t in self._numbered(_ENUM, _ENUM64) if t.name}
        self._typedefs = {t.name: i for i, t in self._numbered(_TYPEDEF)}
        self._fields: dict[str, Field] = {}
        self._variables = {t.name: t.value for _, t in self._numbered(_VAR)}

    def size(self, name: str) -> int:
        """Bytes of a structure or union."""
        return self._size(self._composite(name))

    def field(self, path: str) -> Field:
        """The field `structure.member.member...`. Members of nameless parts are found without the names of those
        parts."""
        if path not in self._fields:
            name, *members = path.split(".")
            self._fields[path] = self._members(Field(0, 0, self._composite(name)), members, path)
        return self._fields[path]

    def offset(self, path: str) -> int:
        """Bytes from the begin of the structure to the member."""
        return self.field(path).offset

    def variable(self, path: str) -> Field:
        """Bytes from the begin of a per-CPU variable to its member: `variable.member...`."""
        name, *members = path.split(".")
        if name not in self._variables:
            raise UserError(
                f"the type information (BTF) of the guest's kernel has no variable `{name}`, which s80lab "
                "needs: use a supported kernel, for example Debian's"
            )
        return self._members(self._whole(0, self._variables[name]), members, path)

    def members(self, path: str) -> dict[str, Field]:
        """The named members of a structure, including those of its nameless parts."""
        return dict(self._flat(self.field(path).type if "." in path else self._composite(path), 0))

    def members_of(self, field: Field) -> dict[str, Field]:
        """The named members of a field that is a structure; nothing for any other field."""
        number = self._bare(field.type)
        return dict(self._flat(number, field.offset)) if self._types[number].kind in (_STRUCT, _UNION) else {}

    def has(self, name: str) -> bool:
        """Whether there is a structure or union of this name."""
        return name in self._composites or name in self._typedefs

    def path_in(self, name: str, offset: int) -> str:
        """The member at an offset of a structure or union: `se.avg.load_avg`, `comm`, `slots[3]`.

        Members that share the byte, in unions and bit fields, are listed in braces: `raw_lock.{val|locked}`. Empty if
        no member covers the byte (padding), or if more than three members share it.
        """
        return self._path(self._composite(name), offset) or ""

    def path_in_variable(self, name: str, offset: int) -> str:
        """As `path_in`, for a per-CPU variable; empty if the type information does not have the variable."""
        return (name in self._variables and self._path(self._variables[name], offset)) or ""

    def target(self, field: Field) -> str:
        """The name of the structure to which a field points; empty if the field is not such a pointer."""
        bare = self._types[self._bare(field.type)]
        return self._types[self._bare(bare.value)].name if bare.kind == _PTR else ""

    def enumerators(self, name: str) -> Mapping[str, int]:
        """Names and values of an enumeration."""
        if name not in self._enums:
            raise UserError(
                f"the type information (BTF) of the guest's kernel has no enumeration `{name}`, which s80lab "
                "needs: use a supported kernel, for example Debian's"
            )
        return dict(self._enumerators(self._types[self._enums[name]]))

    def enumeration_with(self, name: str) -> Mapping[str, int]:
        """Names and values of an enumeration without a name, given one of its enumerators."""
        for _, each in self._numbered(_ENUM, _ENUM64):
            enumerators = dict(self._enumerators(each))
            if name in enumerators:
                return enumerators
        raise UserError(
            f"the type information (BTF) of the guest's kernel has no enumerator `{name}`, which s80lab needs: "
            "use a supported kernel, for example Debian's"
        )

    def _members(self, begin: Field, members: list[str], path: str) -> Field:
        here = begin
        for member in members:
            inside = self.members_of(here)
            if member not in inside:
                raise UserError(
                    f"the structure `{path}` of the guest's kernel has no member `{member}`, which s80lab "
                    "needs: use a supported kernel, for example Debian's"
                )
            here = inside[member]
        return here

    def _composite(self, name: str) -> int:
        if name in self._composites:
            return self._composites[name]
        if name in self._typedefs:
            return self._bare(self._typedefs[name])
        raise UserError(
            f"the type information (BTF) of the guest's kernel has no structure `{name}`, which s80lab needs: "
            "use a supported kernel, for example Debian's"
        )

    def _flat(self, number: int, offset: int) -> Iterator[tuple[str, Field]]:
        composite = self._types[number]
        for i in range(composite.entries):
            name, kind, place = struct.unpack_from("<III", self._data, composite.at + 12 * i)
            bits = place & 0xFF_FFFF if composite.flag else place
            if name:
                yield self._string(name), self._whole(offset + bits // 8, kind)
            else:
                yield from self._flat(self._bare(kind), offset + bits // 8)

    def _path(self, number: int, offset: int) -> str | None:
        """The path from a type to the byte at an offset; empty if the type has no member there, None if it has too
        many."""
        array = self._array(number)
        if array is not None and offset >= array[1] * self._size(array[0]):
            return ""
        if array is not None:
            size = self._size(array[0])  # no index for single bytes of texts and bit maps
            return _joined(f"[{offset // size}]", self._path(array[0], offset % size)) if size > 1 else ""
        composite = self._types[self._bare(number)]
        if composite.kind not in (_STRUCT, _UNION):
            return ""
        found = list(dict.fromkeys(path for path in self._member_paths(composite, offset) if path != ""))
        if len(found) < 2:
            return found[0] if found else ""
        names = {name: None for path in found if path for name in _first_names(path)}
        return f"{{{'|'.join(names)}}}" if None not in found and len(names) <= _MOST_MEMBERS else None

    def _member_paths(self, composite: _Type, offset: int) -> Iterator[str | None]:
        """The path of each member that contains the byte at an offset."""
        for i in range(composite.entries):
            name, kind, place = struct.unpack_from("<III", self._data, composite.at + 12 * i)
            begin, end = self._bits(kind, place, composite.flag)
            if begin // 8 <= offset < -(-end // 8):
                inner = self._path(kind, offset - begin // 8)
                yield _joined(self._string(name), inner) if name else inner

    def _bits(self, number: int, place: int, flag: bool) -> tuple[int, int]:
        """First bit of a member, and the bit after its last. place, flag: as in the type information."""
        begin, width = (place & 0xFF_FFFF, place >> 24) if flag else (place, 0)
        return begin, begin + (width or 8 * self._size(number))

    def _whole(self, offset: int, number: int) -> Field:
        return Field(offset, self._size(number), number, self._count(number))

    def _enumerators(self, enum: _Type) -> Iterator[tuple[str, int]]:
        form = "<IiI" if enum.kind == _ENUM64 else "<Ii"
        for i in range(enum.entries):
            name, value, *_ = struct.unpack_from(form, self._data, enum.at + _EACH[enum.kind] * i)
            yield self._string(name), value

    def _bare(self, number: int) -> int:
        """The type without typedefs, const and volatile."""
        while self._types[number].kind in _NAMES_FOR:
            number = self._types[number].value
        return number

    def _array(self, number: int) -> tuple[int, int] | None:
        bare = self._types[self._bare(number)]
        if bare.kind != _ARRAY:
            return None
        element, _, count = struct.unpack_from("<III", self._data, bare.at)
        return element, count

    def _count(self, number: int) -> int:
        array = self._array(number)
        return 1 if array is None else array[1]

    def _size(self, number: int) -> int:
        array = self._array(number)
        if array is not None:
            return array[1] * self._size(array[0])
        bare = self._types[self._bare(number)]
        if bare.kind == _PTR:
            return _POINTER_BYTES
        return bare.value if bare.kind in _SIZED else 0

    def _numbered(self, *kinds: int) -> Iterator[tuple[int, _Type]]:
        return ((number, each) for number, each in enumerate(self._types) if each.kind in kinds)

    def _read(self, at: int, end: int) -> Iterator[_Type]:
        while at < end:
            name, info, value = struct.unpack_from("<III", self._data, at)
            kind, entries = info >> 24 & 31, info & 0xFFFF
            yield _Type(kind, self._string(name), entries, bool(info >> 31), value, at + 12)
            at += 12 + _FIXED.get(kind, 0) + entries * _EACH.get(kind, 0)

    def _string(self, at: int) -> str:
        return self._strings[at : self._strings.index(b"\0", at)].decode("utf-8", "replace")


def _joined(outer: str, inner: str | None) -> str:
    """A path from two parts; an index follows without a dot."""
    return outer + (inner or "") if not inner or inner.startswith("[") else f"{outer}.{inner}"


def _first_names(path: str) -> list[str]:
    """The outermost member of a path, or the members that its braces list."""
    return path[1:-1].split("|") if path.startswith("{") else [_FIRST_NAME.split(path, maxsplit=1)[0]]
