# SPDX-License-Identifier: GPL-2.0-or-later
"""The tasks of the guest kernel, and the address space of a process: its mappings (VMAs, from the maple tree) and its
page tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from s80lab.guest.kernel.memory import PAGE, KernelMemory

_TOP = 0xFFFF_FFFF_FFFF_FFFF
# Linux, include/linux/maple_tree.h: where the type is in a pointer to a node, and how the root says that it is one.
_NODE_MASK, _TYPE_SHIFT, _TYPE_MASK, _ROOT_IS_NODE = 0xFF, 3, 0xF, 2
# Intel SDM, volume 3, 4.5.
_PRESENT, _LARGE, _FRAME = 1, 1 << 7, 0x000F_FFFF_FFFF_F000


@dataclass(frozen=True)
class Mapping:
    """A mapping from begin to end (virtual addresses). file: a struct file, or 0. offset: bytes into the file."""

    begin: int
    end: int
    file: int
    offset: int


def mappings(memory: KernelMemory, mm: int) -> list[Mapping]:
    """All mappings of a memory map (mm_struct), by address."""
    types = memory.kernel.types
    root = memory.value(mm + types.offset("mm_struct.mm_mt"), "maple_tree.ma_root")
    if not root & _ROOT_IS_NODE:  # a single mapping, or none
        return [_mapping(memory, root)] if root else []
    return [_mapping(memory, vma) for vma in _entries(memory, root, _TOP)]


def _mapping(memory: KernelMemory, vma: int) -> Mapping:
    begin, end, file, page = (
        memory.value(vma, f"vm_area_struct.{name}") for name in ("vm_start", "vm_end", "vm_file", "vm_pgoff")
    )
    return Mapping(begin, end, file, page * PAGE)


def _entries(memory: KernelMemory, entry: int, last: int) -> Iterator[int]:
    """The entries of the tree below a pointer to a node, up to the index `last`."""
    types = memory.kernel.types
    kinds = types.enumerators("maple_type")
    kind = entry >> _TYPE_SHIFT & _TYPE_MASK
    name = "maple_arange_64" if kind == kinds["maple_arange_64"] else "maple_range_64"
    node = entry & ~_NODE_MASK
    pivots, slots = types.field(f"{name}.pivot"), types.field(f"{name}.slot")
    for place in range(slots.count):
        pivot = memory.word(node + pivots.offset + 8 * place) if place < pivots.count else last
        slot = memory.word(node + slots.offset + 8 * place)
        end = pivot or last
        if slot and kind == kinds["maple_leaf_64"]:
            yield slot
        elif slot:
            yield from _entries(memory, slot, end)
        if end >= last:
            return


def user_pages(memory: KernelMemory, mm: int) -> tuple[dict[int, int], list[int]]:
    """The frames that the user half of a memory map maps, by virtual page number; and the frames of its page
    tables."""
    frames: dict[int, int] = {}
    tables: list[int] = []
    top = memory.value(mm, "mm_struct.pgd") - memory.direct
    for at, entry in _table(memory, top, 0, 256, tables):
        _descend(memory, entry, at, 30, frames, tables)
    return frames, tables


def _descend(
    memory: KernelMemory, entry: int, number: int, shift: int, frames: dict[int, int], tables: list[int]
) -> None:
    for at, below in _table(memory, entry & _FRAME, number, 512, tables):
        if shift == 12:
            frames[at] = (below & _FRAME) // PAGE
        elif below & _LARGE:
            pages = 1 << (shift - 12)
            frames.update((at * pages + i, (below & _FRAME) // PAGE + i) for i in range(pages))
        else:
            _descend(memory, below, at, shift - 9, frames, tables)


def _table(memory: KernelMemory, table: int, number: int, count: int, tables: list[int]) -> Iterator[tuple[int, int]]:
    """The first `count` present entries of a table: (number of the range that the entry maps, entry)."""
    tables.append(table // PAGE)
    entries = np.frombuffer(memory.ram.read(table, PAGE), dtype=np.uint64)[:count]
    for place in np.flatnonzero(entries & np.uint64(_PRESENT)).tolist():
        yield number * 512 + place, int(entries[place])


# Linux, include/linux/sched.h: a flag has no type that BTF could tell.
_PF_KTHREAD = 0x0020_0000


@dataclass(frozen=True)
class Task:
    """One thread. address: of its task_struct. mm: address of its memory map, 0 for a kernel thread."""

    address: int
    pid: int
    tgid: int
    comm: str
    kernel_thread: bool
    mm: int
    stack: int


def tasks(memory: KernelMemory) -> Iterator[Task]:
    """All threads except the idle threads, in the kernel's order."""
    types = memory.kernel.types
    head = memory.kernel.symbols.address("init_task") + types.offset("task_struct.tasks")
    for leader in memory.entries(head, "task_struct.tasks"):
        threads = memory.value(leader, "task_struct.signal") + types.offset("signal_struct.thread_head")
        for address in memory.entries(threads, "task_struct.thread_node"):
            yield task_at(memory, address)


def task_at(memory: KernelMemory, address: int) -> Task:
    """The task whose task_struct is at the address."""
    comm = memory.kernel.types.field("task_struct.comm")
    return Task(
        address=address,
        pid=memory.value(address, "task_struct.pid"),
        tgid=memory.value(address, "task_struct.tgid"),
        comm=memory.text(address + comm.offset, comm.size),
        kernel_thread=bool(memory.value(address, "task_struct.flags") & _PF_KTHREAD),
        mm=memory.value(address, "task_struct.mm"),
        stack=memory.value(address, "task_struct.stack"),
    )
