# SPDX-License-Identifier: GPL-2.0-or-later
"""The content of each line of the guest's memory, as it was at the end of a run's measured region.

A map holds a name for each page. Some pages hold several kinds of data: the kernel's image, per-CPU areas, and the
array of `struct page`. In these pages the address of the line determines the name.

A map of an older version has no objects of slab caches; the offset in such an object is then unknown.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import FailFast, Field, ValidationError

from s80lab.base.errors import UserError
from s80lab.base.files import open_regular
from s80lab.base.strict import Strict
from s80lab.guest.kernel.memory import PAGE
from s80lab.guest.kernel.symbols import Symbols

# Kinds of pages whose lines get names of their own.
IMAGE, PER_CPU, STRUCT_PAGE = "kernel image", "per-CPU", "struct page"
UNKNOWN, FREE = "unknown", "free"
SLAB = "slab"
# The structure of a slab cache's per-CPU data, and the beginning of their names.
KMEM_CACHE_CPU = "kmem_cache_cpu"
# The vDSO, which the kernel maps into every process like a file.
VDSO = "[vdso]"
_LARGEST_MAP = 1 << 30
_OF_ZIP = (zipfile.BadZipFile, zlib.error, struct.error)
_AGAIN = "copy the folder of the run again, or run the experiment again with --misses or --profile"
_IMAGE_BASE = 0xFFFF_FFFF_8000_0000


@dataclass(frozen=True)
class What:
    """What a line holds. kind: page cache, slab, per-CPU, kernel data, ...; name: the file, slab cache or variable."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}" if self.name else self.kind


@dataclass(frozen=True)
class Location:
    """A byte of memory. what: what the line holds. variable: the object that contains the byte; empty if the map does
    not know where objects begin. offset: bytes from the object's first byte. type: the structure, if the map knows
    it; for a static per-CPU variable empty."""

    what: What
    variable: str = ""
    offset: int = 0
    type: str = ""


@dataclass(frozen=True)
class SlabCache:
    """The objects of a slab cache. size: bytes from one object to the next. object_size: bytes of an object. merged:
    whether the kernel keeps objects of several kinds in the cache."""

    size: int
    object_size: int
    merged: bool


@dataclass(frozen=True)
class PerCpu:
    """The per-CPU areas. begins: physical start of each processor's area; size: bytes of an area; allocated: (offset,
    bytes, name) of each allocation after the kernel's static variables."""

    begins: Sequence[int]
    size: int
    allocated: Sequence[tuple[int, int, str]]


@dataclass(frozen=True)
class FileMapping:
    """A mapping of a process: virtual addresses begin to end hold the file from offset on."""

    begin: int
    end: int
    offset: int
    path: str


@dataclass(frozen=True)
class MemoryMap:
    """The map. page: for each frame, the index of its name in names. struct_pages: (physical start, first frame) of
    each 2 MiB chunk of the array of struct page. kernel: name of the folder with the kernel's symbols. files: for each
    thread (pid), the mappings of its process, by address. slab_page: for each frame of a slab, its number in the slab.
    slabs: slab caches by name."""

    names: Sequence[What]
    page: NDArray[np.uint32]
    per_cpu: PerCpu
    struct_pages: Sequence[tuple[int, int]]
    struct_page_bytes: int
    kernel: str
    files: Mapping[int, Sequence[FileMapping]]
    slab_page: NDArray[np.uint16] | None = None
    slabs: Mapping[str, SlabCache] = field(default_factory=dict)

    def of_page(self, frame: int) -> What:
        """What the page holds."""
        if frame >= len(self.page):  # beside the guest's memory there is nothing else
            return What("page table", "hashed")
        return self.names[self.page[frame]] if frame >= 0 else What(UNKNOWN, "no memory")

    def find(self, physical: int, symbols: Symbols) -> What:
        """What the line at a physical address holds."""
        return self.locate(physical, symbols).what

    def locate(self, physical: int, symbols: Symbols) -> Location:
        """The object and the offset at a physical address."""
        what = self.of_page(physical // PAGE)
        if what.kind == IMAGE:
            return _in_image(physical, symbols)
        if what.kind == PER_CPU:
            return self._in_per_cpu(physical, symbols)
        if what.kind == STRUCT_PAGE:
            return self._in_struct_page(physical)
        if what.kind == SLAB and what.name in self.slabs and self.slab_page is not None:
            inside = int(self.slab_page[physical // PAGE]) * PAGE + physical % PAGE
            return Location(what, what.name, inside % self.slabs[what.name].size)
        return Location(what)

    def _in_struct_page(self, physical: int) -> Location:
        place = bisect_right(self._chunks, physical) - 1
        begin, first = self.struct_pages[place]
        number, offset = divmod(physical - begin, self.struct_page_bytes)
        target = self.of_page(first + number)
        what = What(STRUCT_PAGE, target.kind if target.kind != "page cache" else str(target))
        return Location(what, "page", offset, "page")

    def _in_per_cpu(self, physical: int, symbols: Symbols) -> Location:
        for begin in self.per_cpu.begins:
            offset = physical - begin
            if not 0 <= offset < self.per_cpu.size:
                continue
            if offset < symbols.per_cpu_end:
                found = symbols.per_cpu_at(offset)
                name, distance = (found[0].name, found[1]) if found else ("", 0)
                return Location(What(PER_CPU, name), name, distance)
            place = bisect_right(self._allocations, offset) - 1
            if place >= 0:
                at, size, name = self.per_cpu.allocated[place]
                if offset < at + size:
                    return Location(What(PER_CPU, name), name, offset - at, _type_of_allocation(name))
            return Location(What(PER_CPU, "allocated"))
        return Location(self.of_page(physical // PAGE))

    @cached_property
    def _chunks(self) -> list[int]:
        return [begin for begin, _ in self.struct_pages]

    @cached_property
    def _allocations(self) -> list[int]:
        return [at for at, _, _ in self.per_cpu.allocated]

    def write(self, path: Path) -> None:
        """Writes the map into one compressed file."""
        texts = {
            "names": [[what.kind, what.name] for what in self.names],
            "per_cpu": [list(self.per_cpu.begins), self.per_cpu.size, [list(each) for each in self.per_cpu.allocated]],
            "struct_pages": [list(each) for each in self.struct_pages],
            "struct_page_bytes": self.struct_page_bytes,
            "kernel": self.kernel,
            "files": {pid: [astuple(mapping) for mapping in mapped] for pid, mapped in self.files.items()},
            "slabs": {name: astuple(cache) for name, cache in self.slabs.items()},
        }
        encoded = np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)
        inside = np.zeros(0, dtype=np.uint16) if self.slab_page is None else self.slab_page
        with path.open("wb") as file:
            np.savez_compressed(file, page=self.page, texts=encoded, slab_page=inside)


_Number = Annotated[int, Field(ge=0, lt=1 << 64)]
_Positive = Annotated[int, Field(ge=1, lt=1 << 48)]


class _Texts(Strict):
    """The part of a map that is JSON; see `MemoryMap`."""

    names: Annotated[list[tuple[str, str]], FailFast()]
    per_cpu: tuple[list[_Number], _Number, Annotated[list[tuple[_Number, _Number, str]], FailFast()]]
    struct_pages: Annotated[list[tuple[_Number, _Number]], FailFast()]
    struct_page_bytes: _Positive
    kernel: str
    files: dict[int, Annotated[list[tuple[_Number, _Number, _Number, str]], FailFast()]]
    slabs: dict[str, tuple[_Positive, _Number, bool]] = Field(default_factory=dict)


def read_map(path: Path) -> MemoryMap:
    """Reads a map that `MemoryMap.write` wrote. UserError if the file is absent or damaged."""
    try:
        with open_regular(path, _LARGEST_MAP, _AGAIN) as file:
            sizes = [member.file_size for member in zipfile.ZipFile(file).infolist()]
            if sum(sizes) > _LARGEST_MAP:
                raise ValueError(f"it holds {sum(sizes) >> 20} MiB")
            file.seek(0)
            with np.load(file, allow_pickle=False) as content:
                page, texts = content["page"], _Texts.model_validate_json(content["texts"].tobytes())
                slab_page = content.get("slab_page", np.zeros(0, dtype=np.uint16))
        _check_arrays(page, slab_page, texts)
    except ValidationError as failure:
        key = ".".join(map(str, failure.errors(include_input=False)[0]["loc"]))
        raise UserError(f"{path}: the map of the guest's memory cannot be read (key `{key}`); {_AGAIN}") from None
    except (OSError, ValueError, KeyError, EOFError, MemoryError, NotImplementedError, *_OF_ZIP) as error:
        raise UserError(f"{path}: the map of the guest's memory cannot be read ({error}); {_AGAIN}") from None
    begins, size, allocated = texts.per_cpu
    return MemoryMap(
        names=[What(kind, name) for kind, name in texts.names],
        page=page,
        per_cpu=PerCpu(begins, size, allocated),
        struct_pages=texts.struct_pages,
        struct_page_bytes=texts.struct_page_bytes,
        kernel=texts.kernel,
        files={pid: [FileMapping(*each) for each in mapped] for pid, mapped in texts.files.items()},
        slab_page=slab_page if len(slab_page) else None,
        slabs={name: SlabCache(*each) for name, each in texts.slabs.items()},
    )


def _check_arrays(page: NDArray[np.uint32], slab_page: NDArray[np.uint16], texts: _Texts) -> None:
    """ValueError for arrays that `MemoryMap.write` does not write."""
    if (
        page.dtype != np.dtype(np.uint32)
        or slab_page.dtype != np.dtype(np.uint16)
        or (page.ndim, slab_page.ndim) != (1, 1)
    ):
        raise ValueError("an array has another type")
    if len(page) and int(page.max()) >= len(texts.names):
        raise ValueError("a page has no name")
    if len(slab_page) not in (0, len(page)):
        raise ValueError("the arrays have different lengths")


def _in_image(physical: int, symbols: Symbols) -> Location:
    found = symbols.find(_IMAGE_BASE + physical)
    if found is None:
        return Location(What("kernel data", ""))
    symbol, distance = found
    return Location(What("kernel text" if symbol.kind in "tTwW" else "kernel data", symbol.name), symbol.name, distance)


def _type_of_allocation(name: str) -> str:
    """The structure of per-CPU data that `memory_build` has named."""
    return KMEM_CACHE_CPU if name.startswith(KMEM_CACHE_CPU) else ""
