# SPDX-License-Identifier: GPL-2.0-or-later
"""Model of the table [disk] of workloads/scales/*.toml: the disks for the mail (docs/guides/disks.md)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from s80lab.base.numbers import MEASURED
from s80lab.base.strict import Size, Strict

Storage = Literal["memory", "disk"]
MIB = 1 << 20
Memory = Annotated[Size, Field(le=1 << 40)]
"""Bytes of memory of a guest, or of a part of it: 1 TiB at most."""
# Times the mail: memory for what is written on the disks (file systems and later mail included), and the disks' room.
WRITTEN, ROOM = 1.25, 2.0
SPARE = 64 * MIB  # of each disk's room


class Disk(Strict):
    """The disks of a scale.

    count: number of disks, over which the users are distributed.
    service_us: service time of a request in simulated microseconds.
    page_cache: bytes of memory for the page cache.
    programs: bytes of memory for the kernel, the servers and their sessions.
    dma: whether the disk itself reads and writes memory, past the caches; if not, the processor that submits a request
        copies the data.
    """

    count: int = Field(ge=1, le=32)
    service_us: int = Field(ge=1, le=MEASURED)
    page_cache: Memory
    programs: Memory
    dma: bool = False

    def ram(self, store_bytes: int) -> int:
        """The guest's memory in bytes, a whole number of MiB. It also holds the contents of the disks."""
        return -(-int(self.programs + self.page_cache + store_bytes * WRITTEN) // MIB) * MIB

    def boot_line(self, store_bytes: int) -> str:
        """The kernel arguments for number and size of the disks."""
        each = (int(store_bytes * ROOM) // self.count + SPARE) // MIB
        return f"s80.storage=disk s80.disks={self.count} s80.disk_mib={each}"

    def delay_ns(self, clock_shift: int) -> int:
        """The service time in nanoseconds of the guest's clock."""
        return self.service_us * 1000 << clock_shift
