# SPDX-License-Identifier: GPL-2.0-or-later
"""The content of each line of the guest's memory, as it was at the end of a run's measured region.

A map holds a name for each page. Some pages hold several kinds of data: the kernel's image, per-CPU areas, and the
array of `struct page`. In these pages the address of the line determines the name.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from s80lab.base.errors import UserError
from s80lab.guest.kernel.memory import PAGE
from s80lab.guest.kernel.symbols import Symbols

# Kinds of pages whose lines get names of their own.
IMAGE, PER_CPU, STRUCT_PAGE = "kernel image", "per-CPU", "struct page"
UNKNOWN, FREE = "unknown", "free"
# The vDSO, which the kernel maps into every process like a file.
VDSO = "[vdso]"
_IMAGE_BASE = 0xFFFF_FFFF_8000_0000


@dataclass(frozen=True)
class What:
    """What a line holds. kind: page cache, slab, per-CPU, kernel data, ...; name: the file, slab cache or variable."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}" if self.name else self.kind


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
    thread (pid), the mappings of its process, by address."""

    names: Sequence[What]
    page: NDArray[np.uint32]
    per_cpu: PerCpu
    struct_pages: Sequence[tuple[int, int]]
    struct_page_bytes: int
    kernel: str
    files: Mapping[int, Sequence[FileMapping]]

    def of_page(self, frame: int) -> What:
        """What the page holds."""
        if frame >= len(self.page):  # beside the guest's memory there is nothing else
            return What("page table", "hashed")
        return self.names[self.page[frame]] if frame >= 0 else What(UNKNOWN, "no memory")

    def of(self, physical: int, symbols: Symbols) -> What:
        """What the line at a physical address holds."""
        what = self.of_page(physical // PAGE)
        if what.kind == IMAGE:
            return _of_image(physical, symbols)
        if what.kind == PER_CPU:
            return self._of_per_cpu(physical, symbols) or what
        if what.kind == STRUCT_PAGE:
            place = bisect_right([begin for begin, _ in self.struct_pages], physical) - 1
            begin, first = self.struct_pages[place]
            target = self.of_page(first + (physical - begin) // self.struct_page_bytes)
            return What(STRUCT_PAGE, target.kind if target.kind != "page cache" else str(target))
        return what

    def _of_per_cpu(self, physical: int, symbols: Symbols) -> What | None:
        for begin in self.per_cpu.begins:
            offset = physical - begin
            if not 0 <= offset < self.per_cpu.size:
                continue
            if offset < symbols.per_cpu_end:
                found = symbols.per_cpu_at(offset)
                return What(PER_CPU, found[0].name if found else "")
            place = bisect_right([at for at, _, _ in self.per_cpu.allocated], offset) - 1
            if place >= 0:
                at, size, name = self.per_cpu.allocated[place]
                if offset < at + size:
                    return What(PER_CPU, name)
            return What(PER_CPU, "allocated")
        return None

    def write(self, path: Path) -> None:
        """Writes the map into one compressed file."""
        texts = {
            "names": [[what.kind, what.name] for what in self.names],
            "per_cpu": [list(self.per_cpu.begins), self.per_cpu.size, [list(each) for each in self.per_cpu.allocated]],
            "struct_pages": [list(each) for each in self.struct_pages],
            "struct_page_bytes": self.struct_page_bytes,
            "kernel": self.kernel,
            "files": {pid: [astuple(mapping) for mapping in mapped] for pid, mapped in self.files.items()},
        }
        with path.open("wb") as file:
            np.savez_compressed(file, page=self.page, texts=np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8))


def read_map(path: Path) -> MemoryMap:
    """Reads a map that `MemoryMap.write` wrote. UserError if the file is absent or damaged."""
    try:
        with np.load(path) as content:
            page, texts = content["page"], json.loads(content["texts"].tobytes())
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise UserError(
            f"{path}: the map of the guest's memory cannot be read ({error}); run the experiment again with "
            "--misses or --profile"
        ) from None
    begins, size, allocated = texts["per_cpu"]
    return MemoryMap(
        names=[What(kind, name) for kind, name in texts["names"]],
        page=page,
        per_cpu=PerCpu(begins, size, [(at, length, name) for at, length, name in allocated]),
        struct_pages=[(begin, first) for begin, first in texts["struct_pages"]],
        struct_page_bytes=texts["struct_page_bytes"],
        kernel=texts["kernel"],
        files={int(pid): [FileMapping(*each) for each in mapped] for pid, mapped in texts["files"].items()},
    )


def _of_image(physical: int, symbols: Symbols) -> What:
    found = symbols.at(_IMAGE_BASE + physical)
    if found is None:
        return What("kernel data", "")
    return What("kernel text" if found[0].kind in "tTwW" else "kernel data", found[0].name)
