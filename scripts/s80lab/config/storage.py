# SPDX-License-Identifier: GPL-2.0-or-later
"""The disks that a scale's mail lies on (docs/guides/disks.md): the table [disk] of workloads/scales/*.toml."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from s80lab.base.errors import UserError
from s80lab.base.strict import Size, Strict
from s80lab.config.machine import GuestPart

Storage = Literal["memory", "disk"]
MIB = 1 << 20
# Times the mail: memory for what is written on the disks (file systems and later mail included), and the disks' room.
WRITTEN, ROOM = 1.25, 2.0
SPARE = 64 * MIB  # of each disk's room
# Ticks a second that the guest's kernel was built for; they are of guest time.
KERNEL_HZ = 250


class Disk(Strict):
    """count: disks, over which the users are spread. service_us: what a request takes that has waited in the queue, in
    modelled time; the disk ends it at a tick, so no less than one. page_cache: bytes of memory for what has been read
    and written; programs: those for the kernel, the servers and their sessions. dma: the disk reads and writes memory
    by itself, past the caches; else the processor that hands a request over does."""

    count: int = Field(ge=1, le=32)
    service_us: PositiveInt
    page_cache: Size
    programs: Size
    dma: bool = False

    def ram(self, store_bytes: int) -> int:
        """The guest's memory, whole MiB; the disks are kept in it too."""
        return -(-int(self.programs + self.page_cache + store_bytes * WRITTEN) // MIB) * MIB

    def boot_line(self, store_bytes: int) -> str:
        """The kernel arguments that make the disks, but for their speed."""
        each = (int(store_bytes * ROOM) // self.count + SPARE) // MIB
        return f"s80.storage=disk s80.disks={self.count} s80.disk_mib={each}"

    def delay_ns(self, guest: GuestPart) -> int:
        """Guest time between a request's begin and the tick that may end it.

        The kernel's timers are looked at at ticks, so a request that begins at a tick, as those do that have waited,
        ends at the first one that is later by the delay. UserError where a tick is longer than the service.
        """
        tick_us = 1e6 / guest.tick_hz if guest.tick_hz else 1e6 / KERNEL_HZ / guest.time_ratio
        if self.service_us < tick_us:
            raise UserError(
                f"disk.service_us = {self.service_us} is less than a tick of {tick_us:g} us, at which a request ends: "
                "ask for more, or raise guest.tick_hz"
            )
        return round((self.service_us - tick_us) * guest.time_ratio * 1000)
