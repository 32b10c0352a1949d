# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of slab caches. The kernel merges caches of equal size. It keeps the names that were asked for as links in
/sys/kernel/slab."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from s80lab.guest.kernel.memory import KernelMemory


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
