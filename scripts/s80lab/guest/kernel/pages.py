# SPDX-License-Identifier: GPL-2.0-or-later
"""Every `struct page` of the guest, as columns over the page frame number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from s80lab.guest.kernel.memory import KernelMemory

Words = NDArray[np.uint64]
# The kernel maps this array by pages of 2 MiB.
CHUNK = 2 << 20
_TAIL = 1  # of compound_head: the page is a tail of the page that the rest of the word points to
ANONYMOUS = 1  # of mapping: it is an anon_vma


@dataclass(frozen=True)
class Pages:
    """Columns over the page frame number. flags, mapping, index and slab_cache (of slabs) belong to the page or, for a
    tail page, to its head page. head: the frame of the head page. users: the reference count of the head page, 0 for a
    free page. places: (physical begin, first frame) of each 2 MiB of the array itself."""

    flags: Words
    mapping: Words
    index: Words
    slab_cache: Words
    users: NDArray[np.uint32]
    head: NDArray[np.int64]
    places: list[tuple[int, int]]

    @property
    def count(self) -> int:
        return len(self.flags)

    def flagged(self, bit: int) -> NDArray[np.bool_]:
        """Whether each page has the flag with this number."""
        return np.asarray(self.flags >> np.uint64(bit) & np.uint64(1), dtype=bool)


def read_pages(memory: KernelMemory) -> Pages:
    """Read all pages (64 bytes for each 4 KiB of memory). Frames without memory look like free pages."""
    types = memory.kernel.types
    size, count = types.size("page"), memory.symbol("max_pfn")
    raw, places = bytearray(count * size), []
    for at in range(0, count * size, CHUNK):
        physical = memory.physical(memory.vmemmap + at)
        if physical is not None:
            places.append((physical, at // size))
            part = memory.ram.read(physical, min(CHUNK, count * size - at))
            raw[at : at + len(part)] = part
    table = np.frombuffer(bytes(raw), dtype=np.uint8).reshape(count, size)

    def column(path: str, kind: type[np.generic]) -> NDArray[np.generic]:
        field = types.field(path)
        return np.ascontiguousarray(table[:, field.offset : field.offset + field.size]).view(kind)[:, 0]

    link = column("page.compound_head", np.uint64).astype(np.uint64)
    tail = (link & np.uint64(_TAIL)).astype(bool)
    head = np.arange(count, dtype=np.int64)
    head[tail] = ((link[tail] - np.uint64(_TAIL) - np.uint64(memory.vmemmap)) // np.uint64(size)).astype(np.int64)
    head[(head < 0) | (head >= count)] = 0
    index = column("page.index", np.uint64).astype(np.uint64)
    return Pages(
        flags=column("page.flags", np.uint64).astype(np.uint64)[head],
        mapping=column("page.mapping", np.uint64).astype(np.uint64)[head],
        index=index[head] + (np.arange(count) - head).astype(np.uint64),
        slab_cache=column("slab.slab_cache", np.uint64).astype(np.uint64)[head],
        users=column("page._refcount", np.uint32).astype(np.uint32)[head],
        head=head,
        places=places,
    )


@dataclass(frozen=True)
class Slabs:
    """All slab caches of a guest."""

    memory: KernelMemory

    def all(self) -> Iterator[int]:
        """Addresses of all struct kmem_cache."""
        return self.memory.entries(self.memory.kernel.symbols.address("slab_caches"), "kmem_cache.list")

    def name(self, cache: int) -> str:
        """The names of a cache, separated by `/`. A cache for kmalloc has one name."""
        memory = self.memory
        own = memory.text(memory.value(cache, "kmem_cache.name"))
        if memory.value(cache, "kmem_cache.refcount") < 2:
            return own
        folder = memory.value(cache + memory.kernel.types.offset("kmem_cache.kobj"), "kobject.sd")
        others = self._links.get(folder, [])
        return own if own.startswith("kmalloc") else "/".join(dict.fromkeys([*others, own]))

    @cached_property
    def _links(self) -> dict[int, list[str]]:
        """The links to each cache, by the cache's folder (kernfs_node)."""
        memory, found = self.memory, dict[int, list[str]]()
        types = memory.kernel.types
        kset = memory.symbol("slab_kset")
        top = memory.value(kset + types.offset("kset.kobj"), "kobject.sd")
        children = memory.word(top + types.offset("kernfs_node.dir.children"))
        for node in self._tree(children, types.offset("kernfs_node.rb")):
            target = memory.word(node + types.offset("kernfs_node.symlink.target_kn"))
            name = memory.text(memory.value(node, "kernfs_node.name"))
            if memory.value(node, "kernfs_node.flags") & types.enumerators("kernfs_node_type")["KERNFS_LINK"]:
                found.setdefault(target, []).append(name)
        return {folder: sorted(names) for folder, names in found.items()}

    def _tree(self, node: int, inside: int) -> Iterator[int]:
        """The structures of a red-black tree, in order."""
        if not node:
            return
        left, right = (self.memory.value(node, f"rb_node.rb_{side}") for side in ("left", "right"))
        yield from self._tree(left, inside)
        yield node - inside
        yield from self._tree(right, inside)
