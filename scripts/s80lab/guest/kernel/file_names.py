# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of the guest's files, from its dentries and mounts."""

from __future__ import annotations

from dataclasses import dataclass, field

from s80lab.guest.kernel.memory import KernelMemory

_DEEPEST = 64


@dataclass
class Files:
    """Finds names of files and caches them."""

    memory: KernelMemory
    _paths: dict[int, str] = field(default_factory=dict)

    def of_mapping(self, mapping: int) -> str:
        """The path of the file whose page cache an address_space is."""
        inode = self.memory.value(mapping, "address_space.host")
        return self.of_inode(inode) if inode else "(no file)"

    def of_inode(self, inode: int) -> str:
        """The first path of an inode. Without a path: the type of the file system and the number of the inode."""
        if inode not in self._paths:
            first = self.memory.value(inode, "inode.i_dentry")
            alias = self.memory.kernel.types.offset("dentry.d_u")
            self._paths[inode] = self.of_dentry(first - alias) if first else self._nameless(inode)
        return self._paths[inode]

    def of_file(self, file: int) -> str:
        """The path of an open file (struct file)."""
        dentry = self.memory.value(file + self.memory.kernel.types.offset("file.f_path"), "path.dentry")
        return self.of_dentry(dentry)

    def of_dentry(self, dentry: int) -> str:
        """The path of a dentry, from the root of the first mount."""
        if dentry not in self._paths:
            self._paths[dentry] = self._path(dentry)
        return self._paths[dentry]

    def _path(self, dentry: int) -> str:
        parts: list[str] = []
        memory = self.memory
        for _ in range(_DEEPEST):
            parent = memory.value(dentry, "dentry.d_parent")
            if parent == dentry:
                point = self._mount_point(memory.value(dentry, "dentry.d_sb"))
                if not point:
                    break
                dentry = point
                continue
            name = memory.kernel.types.offset("dentry.d_name")
            parts.append(memory.text(memory.value(dentry + name, "qstr.name")))
            dentry = parent
        kind = "" if parts else self._type(memory.value(dentry, "dentry.d_sb"))
        return f"{kind}:" if kind else "/" + "/".join(reversed(parts))

    def _mount_point(self, super_block: int) -> int:
        """The dentry on which the file system is mounted; 0 for the root."""
        memory = self.memory
        head = super_block + memory.kernel.types.offset("super_block.s_mounts")
        for mount in memory.entries(head, "mount.mnt_instance"):
            parent, point = memory.value(mount, "mount.mnt_parent"), memory.value(mount, "mount.mnt_mountpoint")
            return 0 if parent == mount else point
        return 0

    def _nameless(self, inode: int) -> str:
        kind = self._type(self.memory.value(inode, "inode.i_sb"))
        return f"{kind}: inode {self.memory.value(inode, 'inode.i_ino')}"

    def _type(self, super_block: int) -> str:
        kind = self.memory.value(super_block, "super_block.s_type")
        return self.memory.text(self.memory.value(kind, "file_system_type.name"))
