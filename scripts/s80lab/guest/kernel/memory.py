# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's memory seen with the kernel's eyes: virtual addresses, typed fields, lists, per-CPU variables."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from s80lab.base.errors import UserError
from s80lab.guest.kernel.facts import Kernel
from s80lab.guest.kernel.types import Field

PAGE = 4096
# Linux, Documentation/arch/x86/x86_64/mm.rst: the kernel's image; where the rest lies, variables of the kernel say.
_IMAGE = 0xFFFF_FFFF_8000_0000
_TOP = 0xFFFF_FFFF_FFFF_FFFF
_HIGH_RAM = 1 << 32
# Intel SDM, volume 3, 4.5: entries of 4-level page tables.
_PRESENT, _LARGE = 1, 1 << 7
_FRAME = 0x000F_FFFF_FFFF_F000


class Ram(Protocol):
    """Guest-physical memory."""

    def read(self, physical: int, size: int) -> bytes:
        """Fewer bytes where there is no memory."""
        ...


def _place(physical: int, low_ram: int) -> int | None:
    """Where guest-physical memory lies in the RAM file; None in the PCI hole."""
    if physical >= _HIGH_RAM:
        return physical - _HIGH_RAM + low_ram
    return physical if physical < low_ram else None


class RamFile:
    """The RAM file of a checkpoint. low_ram: bytes of it that lie below the PCI hole."""

    def __init__(self, path: Path, low_ram: int) -> None:
        self._low_ram = low_ram
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)

    def read(self, physical: int, size: int) -> bytes:
        at = _place(physical, self._low_ram)
        if at is None:
            return b""
        return self._map[at : at + size]


class ProcessRam:
    """The RAM of a guest that stands still: the RAM file as QEMU has mapped it, with what the guest has written since.

    Needs the right to read the process's memory, which its parent has.
    """

    def __init__(self, pid: int, path: Path, low_ram: int) -> None:
        self._low_ram = low_ram
        try:
            maps = Path(f"/proc/{pid}/maps").read_text()
            self._memory = Path(f"/proc/{pid}/mem").open("rb", buffering=0)  # noqa: SIM115 - closed with the object
        except OSError as error:
            raise UserError(f"the guest's memory cannot be read in QEMU's process ({error})") from None
        lines = [line.split(maxsplit=5) for line in maps.splitlines()]
        mapped = [(line[0].split("-"), int(line[2], 16)) for line in lines if line[-1] == str(path)]
        self._parts = sorted((offset, int(begin, 16), int(end, 16)) for (begin, end), offset in mapped)

    def read(self, physical: int, size: int) -> bytes:
        at = _place(physical, self._low_ram)
        if at is None:
            return b""
        for offset, begin, end in self._parts:
            if offset <= at < offset + end - begin:
                self._memory.seek(begin + at - offset)
                return self._memory.read(min(size, offset + end - begin - at))
        return b""

    def close(self) -> None:
        self._memory.close()


@dataclass(frozen=True)
class KernelMemory:
    """UserError where an address is read that the kernel has not mapped."""

    kernel: Kernel
    ram: Ram

    @cached_property
    def direct(self) -> int:
        """Where all physical memory is mapped to."""
        return self._early("page_offset_base")

    @cached_property
    def vmemmap(self) -> int:
        """Where the array of `struct page` is."""
        return self._early("vmemmap_base")

    @cached_property
    def per_cpu_offsets(self) -> list[int]:
        """By processor: what is added to a per-CPU variable's symbol."""
        base = self.kernel.symbols.address("__per_cpu_offset")
        return [self.word(base + 8 * cpu) for cpu in range(self._early("nr_cpu_ids", 4))]

    def physical(self, virtual: int) -> int | None:
        """None where nothing is mapped."""
        if self.direct <= virtual < self.direct + (1 << 46):
            return virtual - self.direct
        return self.walk(self.kernel.symbols.address("init_top_pgt") - _IMAGE, virtual)

    def walk(self, table: int, virtual: int) -> int | None:
        """Through the page tables that begin at the physical address `table`."""
        for shift in (39, 30, 21, 12):
            entry = int.from_bytes(self.ram.read(table + (virtual >> shift & 511) * 8, 8), "little")
            if not entry & _PRESENT:
                return None
            if shift == 12 or (entry & _LARGE and shift < 39):
                inside = (1 << shift) - 1
                return entry & _FRAME & ~inside | virtual & inside
            table = entry & _FRAME
        return None

    def read(self, virtual: int, size: int) -> bytes:
        parts = []
        while size > 0:
            here = min(size, PAGE - virtual % PAGE)
            physical = self.physical(virtual)
            part = b"" if physical is None else self.ram.read(physical, here)
            if len(part) != here:
                raise UserError(f"the guest's kernel has nothing at {virtual:#x}")
            parts.append(part)
            virtual, size = virtual + here, size - here
        return b"".join(parts)

    def integer(self, virtual: int, size: int) -> int:
        """Unsigned."""
        return int.from_bytes(self.read(virtual, size), "little")

    def word(self, virtual: int) -> int:
        """Eight bytes: a pointer, an unsigned long."""
        return self.integer(virtual, 8)

    def value(self, base: int, path: str) -> int:
        """The field `structure.member...` of the structure at `base`, unsigned."""
        field = self.kernel.types.field(path)
        return self.integer(base + field.offset, field.size)

    def text(self, virtual: int, limit: int = 256) -> str:
        """Up to a NUL byte."""
        here = min(limit, PAGE - virtual % PAGE)
        begin = self.read(virtual, here)
        if b"\0" not in begin and here < limit:
            begin += self.read(virtual + here, limit - here)
        return begin.split(b"\0", 1)[0].decode("utf-8", "replace")

    def symbol(self, name: str) -> int:
        """A variable's first word."""
        return self.word(self.kernel.symbols.address(name))

    def per_cpu(self, name: str) -> Iterator[int]:
        """Where the per-CPU variable is, by processor."""
        return self.of_each_processor(self.kernel.symbols.address(name))

    def of_each_processor(self, pointer: int) -> Iterator[int]:
        """Where a per-CPU pointer leads to, by processor."""
        return (base + pointer & _TOP for base in self.per_cpu_offsets)

    def entries(self, head: int, link: str) -> Iterator[int]:
        """The structures of a list (struct list_head at `head`) that are linked by the field `link`; at most 2^20."""
        inside, at = self.kernel.types.offset(link), self.word(head)
        for _ in range(1 << 20):
            if at == head:
                return
            yield at - inside
            at = self.word(at)
        raise UserError(f"the guest's list at {head:#x} has no end")

    def _early(self, name: str, size: int = 8) -> int:
        """A variable of the image, before the other mappings are known (the kernel lies where it is linked to)."""
        physical = self.kernel.symbols.address(name) - _IMAGE
        return int.from_bytes(self.ram.read(physical, size), "little")


def array_element(field: Field, index: int) -> Field:
    """One element of an array field; UserError beyond its end."""
    if not 0 <= index < field.count:
        raise UserError(f"the kernel's array has {field.count} elements, no number {index}")
    return Field(field.offset + index * field.stride, field.stride, field.type)
