# SPDX-License-Identifier: GPL-2.0-or-later
"""Attributes each miss to the function that missed and to the data in the line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.debug_files import source_lines
from s80lab.analysis.misses.fields import Fields
from s80lab.analysis.misses.functions import KERNEL, UNNAMED, Functions, Place
from s80lab.analysis.misses.log import Log
from s80lab.analysis.misses.memory import FREE, UNKNOWN, MemoryMap, What
from s80lab.guest.kernel.facts import Kernel
from s80lab.guest.kernel.symbols import Symbols

T = TypeVar("T")

# Kinds that give the place of a line, not its data: such a miss is not attributed.
NAMELESS = (FREE, UNKNOWN, "allocated")


@dataclass(frozen=True)
class Named:
    """Attribution of all records. function, what: for each record of the log, an index into `functions` and `whats`."""

    functions: list[str]
    function: NDArray[np.int64]
    whats: list[What]
    what: NDArray[np.int64]

    def named(self) -> NDArray[np.bool_]:
        """Mask of the records whose function and data are both known."""
        good_functions = np.array([not name.endswith(UNNAMED) for name in self.functions])
        good_whats = np.array([what.kind not in NAMELESS for what in self.whats])
        return np.asarray(good_functions[self.function] & good_whats[self.what])


@dataclass(frozen=True)
class Details:
    """Field and line of the source of all records. field, source: for each record, an index into `fields` and
    `sources`. A text is empty if it is unknown."""

    fields: list[str]
    field: NDArray[np.int64]
    sources: list[str]
    source: NDArray[np.int64]


def name_all(log: Log, memory_map: MemoryMap, functions: Functions, symbols: Symbols) -> Named:
    """Attributes every record. Each distinct (process, code address) and each distinct data address is looked up
    once."""
    found_functions, of_code = _numbered(functions.name(pid, pc) for pid, pc in log.codes.rows)
    found_whats, of_byte = _numbered(memory_map.find(byte, symbols) for (byte,) in log.bytes.rows)
    return Named(found_functions, of_code[log.codes.index], found_whats, of_byte[log.bytes.index])


def detail_all(log: Log, memory_map: MemoryMap, functions: Functions, kernel: Kernel) -> Details:
    """Finds the field and the line of the source of every record."""
    fields = Fields(kernel.types, memory_map)
    places = [functions.place(pid, pc) for pid, pc in log.codes.rows]
    lines = _source_lines(places, functions, kernel)
    found_fields, of_byte = _numbered(
        fields.name(memory_map.locate(byte, kernel.symbols)) for (byte,) in log.bytes.rows
    )
    found_sources, of_code = _numbered("" if place is None else lines.get(place, "") for place in places)
    return Details(found_fields, of_byte[log.bytes.index], found_sources, of_code[log.codes.index])


def _source_lines(places: Iterable[Place | None], functions: Functions, kernel: Kernel) -> dict[Place, str]:
    """The line of the source of each place whose file has line numbers."""
    addresses: dict[str, set[int]] = {}
    for place in places:
        if place is not None:
            addresses.setdefault(place.path, set()).add(place.address)
    found = {}
    for path, wanted in addresses.items():
        if path == KERNEL:
            file = functions.debug.find_kernel(kernel.version, kernel.build_id)
        else:
            file = functions.with_lines(path)
        if file is not None:
            lines = source_lines(file, sorted(wanted))
            found.update({Place(path, address): line for address, line in lines.items()})
    return found


def _numbered(values: Iterable[T]) -> tuple[list[T], NDArray[np.int64]]:
    """The distinct values in the order of their first appearance, and for each value its index."""
    numbers: dict[T, int] = {}
    index = [numbers.setdefault(value, len(numbers)) for value in values]
    return list(numbers), np.array(index, dtype=np.int64)
