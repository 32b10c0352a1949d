# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the map of a guest's memory (analysis/misses/memory.py) from the kernel's data structures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from s80lab.analysis.misses.memory import (
    FREE,
    IMAGE,
    KMEM_CACHE_CPU,
    PER_CPU,
    SLAB,
    STRUCT_PAGE,
    VDSO,
    FileMapping,
    MemoryMap,
    PerCpu,
    SlabCache,
    What,
)
from s80lab.base.errors import UserError
from s80lab.guest.kernel.address_space import Mapping, Task, mappings, tasks, user_pages
from s80lab.guest.kernel.file_names import Files
from s80lab.guest.kernel.memory import PAGE, KernelMemory
from s80lab.guest.kernel.pages import ANONYMOUS, CHUNK, Pages, Slabs, read_pages

_IMAGE_BASE = 0xFFFF_FFFF_8000_0000
_NO_MAPPING = 0
_MAPPING_FLAGS = 3
_STACK_BYTES = 4 * PAGE


@dataclass
class Names:
    """Assigns numbers to names in the order of their first use."""

    all: list[What] = field(default_factory=list)
    _numbers: dict[What, int] = field(default_factory=dict)

    def number(self, kind: str, name: str = "") -> int:
        what = What(kind, name)
        if what not in self._numbers:
            self._numbers[what] = len(self.all)
            self.all.append(what)
        return self._numbers[what]


def map_memory(memory: KernelMemory) -> MemoryMap:
    """Builds the map, which takes seconds. The guest must be stopped."""
    builder = _Builder(memory, read_pages(memory), Files(memory), Slabs(memory))
    return builder.build()


@dataclass
class _Builder:
    memory: KernelMemory
    pages: Pages
    files: Files
    slabs: Slabs
    names: Names = field(default_factory=Names)
    mapped: dict[int, list[FileMapping]] = field(default_factory=dict)
    caches: dict[str, SlabCache] = field(default_factory=dict)

    def build(self) -> MemoryMap:
        """Names all pages; later steps are more specific and overwrite earlier names."""
        memory, pages = self.memory, self.pages
        per_cpu = self._per_cpu()
        page = np.full(pages.count, self.names.number(FREE), dtype=np.uint32)
        page[pages.users > 0] = self.names.number("allocated")
        self._reserved(page)
        self._slabs(page)
        self._files(page)
        self._kept(page)
        self._vmalloc(page)
        self._processes(page)
        self._kernel_tables(page)
        for begin in per_cpu.begins:
            page[begin // PAGE : (begin + per_cpu.size) // PAGE] = self.names.number(PER_CPU)
        for begin, _ in pages.places:
            page[begin // PAGE : (begin + CHUNK) // PAGE] = self.names.number(STRUCT_PAGE)
        size = memory.kernel.types.size("page")
        places = sorted(pages.places)
        folder = memory.kernel.folder.name
        inside = self._slab_pages()
        return MemoryMap(self.names.all, page, per_cpu, places, size, folder, self.mapped, inside, self.caches)

    def _flagged(self, name: str) -> NDArray[np.bool_]:
        return self.pages.flagged(self.memory.kernel.types.enumerators("pageflags")[name])

    def _reserved(self, page: NDArray[np.uint32]) -> None:
        """Names the kernel's image and boot-time allocations; the latter after the variable that points to them."""
        symbols = self.memory.kernel.symbols
        reserved = self._flagged("PG_reserved")
        page[reserved] = self.names.number("boot memory")
        kept = [(target, name) for target, name in self._pointers() if reserved[target // PAGE]]
        frames = np.array([target // PAGE for target, _ in kept], dtype=np.int64)
        owners = np.array([self.names.number("boot memory", name) for _, name in kept], dtype=np.uint32)
        if len(frames):
            last = np.searchsorted(frames, np.arange(len(page)), side="right") - 1
            run = np.cumsum(~reserved)  # a table ends with its stretch of reserved pages
            known = reserved & (last >= 0)
            known[known] = run[known] == run[frames[last[known]]]
            page[known] = owners[last[known]]
        begin, end = (symbols.address(name) - _IMAGE_BASE for name in ("_text", "_end"))
        image = np.zeros(len(page), dtype=bool)
        image[begin // PAGE : -(-end // PAGE)] = True
        page[image & reserved] = self.names.number(IMAGE)

    def _pointers(self) -> list[tuple[int, str]]:
        """(physical target, name) of every variable of the image that points into the direct mapping, by target."""
        symbols, memory = self.memory.kernel.symbols, self.memory
        begin, end = symbols.address("_sdata"), symbols.address("_end")
        words = np.frombuffer(memory.ram.read(begin - _IMAGE_BASE, end - begin & ~7), dtype=np.uint64)
        top = memory.direct + self.pages.count * PAGE
        found = []
        for place in np.flatnonzero((words >= np.uint64(memory.direct)) & (words < np.uint64(top))).tolist():
            symbol = symbols.find(begin + 8 * place)
            if symbol is not None:
                found.append((int(words[place]) - memory.direct, symbol[0].name))
        return sorted(found)

    def _slabs(self, page: NDArray[np.uint32]) -> None:
        slab = self._flagged("PG_slab") & (self.pages.users > 0)
        for cache in np.unique(self.pages.slab_cache[slab]).tolist():
            with suppress(UserError):
                name = self.slabs.name(cache)
                self.caches[name] = SlabCache(
                    size=self.memory.value(cache, "kmem_cache.size"),
                    object_size=self.memory.value(cache, "kmem_cache.object_size"),
                    merged=self.memory.value(cache, "kmem_cache.refcount") > 1,
                )
                page[slab & (self.pages.slab_cache == np.uint64(cache))] = self.names.number(SLAB, name)

    def _slab_pages(self) -> NDArray[np.uint16]:
        """For each frame of a slab, its number in the slab; 0 elsewhere."""
        inside = np.arange(self.pages.count, dtype=np.int64) - self.pages.head
        return np.where(self._flagged("PG_slab"), inside, 0).astype(np.uint16)

    def _files(self, page: NDArray[np.uint32]) -> None:
        """Names the page cache by file, and anonymous memory without its owner (set in a later step)."""
        plain = (self.pages.users > 0) & ~self._flagged("PG_slab") & ~self._flagged("PG_reserved")
        mapped = plain & (self.pages.mapping != _NO_MAPPING)
        anonymous = mapped & (self.pages.mapping & np.uint64(ANONYMOUS)).astype(bool)
        page[anonymous] = self.names.number("anonymous")
        cached = np.flatnonzero(mapped & ((self.pages.mapping & np.uint64(_MAPPING_FLAGS)) == 0))
        order = cached[np.argsort(self.pages.mapping[cached], kind="stable")]
        owners, begins = np.unique(self.pages.mapping[order], return_index=True)
        for owner, frames in zip(owners.tolist(), np.split(order, begins[1:]), strict=True):
            with suppress(UserError):  # a page that is neither: its word is another's
                page[frames] = self.names.number("page cache", self.files.of_mapping(owner))

    def _kept(self, page: NDArray[np.uint32]) -> None:
        """Names other allocated pages, if a kernel variable points to their start."""
        allocated = self.names.number("allocated")
        for target, name in self._pointers():
            if target % PAGE == 0 and page[target // PAGE] == allocated:
                page[self.pages.head == self.pages.head[target // PAGE]] = self.names.number("kernel memory", name)

    def _vmalloc(self, page: NDArray[np.uint32]) -> None:
        """Names vmalloc memory by the function that allocated it."""
        memory = self.memory
        for area in memory.entries(memory.kernel.symbols.address("vmap_area_list"), "vmap_area.list"):
            vm = memory.value(area, "vmap_area.vm")
            pages = memory.value(vm, "vm_struct.pages") if vm else 0
            if not pages:
                continue
            caller = memory.kernel.symbols.find(memory.value(vm, "vm_struct.caller"))
            number = self.names.number("vmalloc", caller[0].name if caller else "")
            raw = memory.read(pages, 8 * memory.value(vm, "vm_struct.nr_pages"))
            targets = np.frombuffer(raw, dtype=np.uint64) - np.uint64(memory.vmemmap)
            page[(targets // np.uint64(memory.kernel.types.size("page"))).astype(np.int64)] = number

    def _processes(self, page: NDArray[np.uint32]) -> None:
        """Names kernel stacks, page tables and anonymous memory by their process."""
        seen: dict[int, list[FileMapping]] = {}
        for task in tasks(self.memory):
            who = "kernel threads" if task.kernel_thread else task.comm
            self._place(page, self._stack(task), self.names.number("kernel stack", who))
            if task.mm and task.mm not in seen:
                frames, tables = user_pages(self.memory, task.mm)
                self._place(page, tables, self.names.number("page table", task.comm))
                areas = mappings(self.memory, task.mm)
                self._anonymous(page, task, frames, areas)
                seen[task.mm] = [
                    FileMapping(area.begin, area.end, area.offset, self.files.of_file(area.file))
                    for area in areas
                    if area.file
                ]
                vdso = self.memory.value(task.mm, "mm_struct.context.vdso")
                seen[task.mm] += [FileMapping(a.begin, a.end, a.offset, VDSO) for a in areas if a.begin == vdso]
            if task.mm:
                self.mapped[task.pid] = seen[task.mm]

    def _stack(self, task: Task) -> Iterator[int]:
        for at in range(task.stack, task.stack + _STACK_BYTES, PAGE):
            physical = self.memory.physical(at)
            if physical is not None:
                yield physical // PAGE

    def _anonymous(self, page: NDArray[np.uint32], task: Task, frames: dict[int, int], areas: list[Mapping]) -> None:
        """Names anonymous pages by process and area. Shared pages belong to the first process."""
        anonymous = self.names.number("anonymous")
        names = [self.names.number("anonymous", f"{task.comm}, {self._area(task, area)}") for area in areas]
        at = 0
        for number in sorted(frames):
            while at + 1 < len(areas) and areas[at].end <= number * PAGE:
                at += 1
            frame = frames[number]
            if frame < len(page) and page[frame] == anonymous:
                page[frame] = names[at]

    def _area(self, task: Task, area: Mapping) -> str:
        memory = self.memory
        if area.file:
            return f"data of {self.files.of_file(area.file).rsplit('/', 1)[-1]}"
        if area.begin <= memory.value(task.mm, "mm_struct.start_brk") < area.end:
            return "heap"
        if area.begin <= memory.value(task.mm, "mm_struct.start_stack") < area.end:
            return "stack"
        return "mapping"

    def _kernel_tables(self, page: NDArray[np.uint32]) -> None:
        """Names the page tables of the kernel half of the address space, 4 KiB each."""
        memory = self.memory
        number = self.names.number("page table", "kernel")
        levels = [memory.kernel.symbols.address("init_top_pgt") - _IMAGE_BASE]
        for depth in range(3):
            below: list[int] = []
            for table in levels:
                entries = np.frombuffer(memory.ram.read(table, PAGE), dtype=np.uint64)
                part = entries[256:] if depth == 0 else entries
                tables = part[(part & np.uint64(1)).astype(bool) & ((part & np.uint64(1 << 7)) == 0)]
                below += (tables & np.uint64(0x000F_FFFF_FFFF_F000)).tolist()
            levels = sorted(set(below))
            self._place(page, (table // PAGE for table in levels), number)

    def _place(self, page: NDArray[np.uint32], frames: Iterable[int], number: int) -> None:
        inside = [frame for frame in frames if frame < len(page)]
        page[inside] = number

    def _per_cpu(self) -> PerCpu:
        memory = self.memory
        begins = [base - memory.direct for base in memory.per_cpu_offsets]
        size = memory.symbol("pcpu_unit_size") & 0xFFFF_FFFF
        return PerCpu(begins, size, sorted(self._per_cpu_allocated()))

    def _per_cpu_allocated(self) -> Iterator[tuple[int, int, str]]:
        """The per-CPU data of each slab cache, and the network counters."""
        memory, types = self.memory, self.memory.kernel.types
        size = types.size(KMEM_CACHE_CPU)
        for cache in self.slabs.all():
            yield memory.value(cache, "kmem_cache.cpu_slab"), size, f"{KMEM_CACHE_CPU} of {self.slabs.name(cache)}"
        counters = memory.kernel.symbols.address("init_net") + types.offset("net.mib")
        for name, member in types.members("netns_mib").items():
            kind = types.target(member)
            if kind:
                yield memory.word(counters + member.offset), types.size(kind), f"init_net.mib.{name}"
