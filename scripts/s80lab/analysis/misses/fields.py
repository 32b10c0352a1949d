# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of the data at a byte: `task_struct.se.vruntime`, or `kmalloc-512+0x48` where the structure is unknown.

Layouts come from the kernel's type information (BTF). The kernel has no record of the structure in a slab cache, so the
structure is taken from the cache's name if the kernel has not merged the cache with others. Either the structure has
the name of the cache, or STRUCTURES lists it and the cache's objects are at least as large. Memory of kmalloc, and
variables of the kernel that are not per CPU, have no known structure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from s80lab.analysis.misses.memory import PER_CPU, SLAB, Location, MemoryMap
from s80lab.guest.kernel.types import Types

# Structures of caches that have other names than their structures: Linux 6.1, the calls of kmem_cache_create.
STRUCTURES = {
    "TCP": "tcp_sock",
    "TCPv6": "tcp6_sock",
    "UDP": "udp_sock",
    "UNIX": "unix_sock",
    "bdev_cache": "bdev_inode",
    "cred_jar": "cred",
    "eventpoll_epi": "epitem",
    "eventpoll_pwq": "eppoll_entry",
    "ext4_inode_cache": "ext4_inode_info",
    "file_lock_cache": "file_lock",
    "files_cache": "files_struct",
    "filp": "file",
    "fs_cache": "fs_struct",
    "inode_cache": "inode",
    "ip_dst_cache": "rtable",
    "kernfs_node_cache": "kernfs_node",
    "mnt_cache": "mount",
    "proc_inode_cache": "proc_inode",
    "radix_tree_node": "xa_node",
    "request_sock_TCP": "tcp_request_sock",
    "shmem_inode_cache": "shmem_inode_info",
    "sighand_cache": "sighand_struct",
    "signal_cache": "signal_struct",
    "skbuff_fclone_cache": "sk_buff_fclones",
    "skbuff_head_cache": "sk_buff",
    "sock_inode_cache": "socket_alloc",
    "tcp_bind_bucket": "inet_bind_bucket",
    "tw_sock_TCP": "tcp_timewait_sock",
}


@dataclass
class Fields:
    """Finds the names of fields. Each name is looked up once."""

    types: Types
    memory_map: MemoryMap
    _found: dict[tuple[str, str, str, int], str] = field(default_factory=dict)

    def name(self, location: Location) -> str:
        """The field at a location; empty if the object that contains the byte is unknown."""
        if not location.variable:
            return ""
        key = location.what.kind, location.type, location.variable, location.offset
        if key not in self._found:
            self._found[key] = self._name(location)
        return self._found[key]

    def _name(self, location: Location) -> str:
        owner, path = location.variable, ""
        structure = self._structure(location)
        if structure:
            path = self.types.path_in(structure, location.offset)
            owner = structure
        elif location.what.kind == PER_CPU:
            path = self.types.path_in_variable(location.variable, location.offset)
        if not path:
            whole = location.offset == 0 and not structure and location.what.kind != SLAB
            return owner if whole else f"{owner}+{location.offset:#x}"
        return f"{owner}{path}" if path.startswith("[") else f"{owner}.{path}"

    def _structure(self, location: Location) -> str:
        if location.type:
            return location.type if self.types.has(location.type) else ""
        if location.what.kind == PER_CPU and location.variable in self._counters:
            return self._counters[location.variable]
        if location.what.kind == SLAB:
            return self._in_slab(location.variable)
        return ""

    def _in_slab(self, cache: str) -> str:
        slab = self.memory_map.slabs.get(cache)
        structure = STRUCTURES.get(cache, cache)
        if slab is None or slab.merged or not self.types.has(structure):
            return ""
        # Objects may be smaller than the structure of their name: task_struct ends with registers of variable length.
        fits = structure == cache or self.types.size(structure) <= slab.object_size
        return structure if fits else ""

    @cached_property
    def _counters(self) -> Mapping[str, str]:
        """The structures of the per-CPU network counters, by the names that `memory_build` gives them."""
        members = self.types.members("netns_mib") if self.types.has("netns_mib") else {}
        targets = {f"init_net.mib.{name}": self.types.target(member) for name, member in members.items()}
        return {name: target for name, target in targets.items() if target}
