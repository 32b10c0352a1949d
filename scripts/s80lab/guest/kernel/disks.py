# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's disks: block devices with a mounted file system, found in the guest's memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from s80lab.guest.kernel.memory import KernelMemory


@dataclass(frozen=True)
class MountedDisk:
    """statistics: addresses of the kernel's struct disk_stats of the disk, by processor."""

    name: str
    statistics: tuple[int, ...]


def mounted_disks(memory: KernelMemory) -> Iterator[MountedDisk]:
    """The disks in the order in which they were mounted. The list is empty if all files are in memory."""
    head = memory.kernel.symbols.address("super_blocks")
    name = memory.kernel.types.field("gendisk.disk_name")
    for block in memory.entries(head, "super_block.s_list"):
        device = memory.value(block, "super_block.s_bdev")
        if device:
            disk = memory.value(device, "block_device.bd_disk")
            statistics = memory.of_each_processor(memory.value(device, "block_device.bd_stats"))
            yield MountedDisk(memory.text(disk + name.offset, name.size), tuple(statistics))
