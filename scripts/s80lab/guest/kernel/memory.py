# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the guest's memory as its kernel does: virtual addresses, typed fields, lists, per-CPU variables."""

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
        """Read `size` bytes, or fewer if the memory ends before."""
        ...


def _place(physical: int, low_ram: int) -> int | None:
    """The offset of guest-physical memory in the RAM file; None in the PCI hole."""
    if physical >= _HIGH_RAM:
        return physical - _HIGH_RAM + low_ram
    return physical if physical < low_ram else None


class RamFile:
    """The RAM file of a checkpoint. low_ram: bytes of the file below the PCI hole."""

    def __init__(self, path: Path, low_ram: int) -> None:
        self._low_ram = low_ram
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)

    def read(self, physical: int, size: int) -> bytes:
        at = _place(physical, self._low_ram)
        if at is None:
            return b""
        return self._map[at : at + size]


def ram_parts(pid: int, path: Path) -> list[tuple[int, int, int]]:
    """(offset in the file, first address, address after the last) of each part of the RAM file that a process has
    mapped, by offset (proc(5), maps)."""
    lines = [line.split(maxsplit=5) for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    # Linux shows paths absolute and without links.
    name = str(path.resolve())
    mapped = [(line[0].split("-"), int(line[2], 16)) for line in lines if line[-1] == name]
    return sorted((offset, int(begin, 16), int(end, 16)) for (begin, end), offset in mapped)


class ProcessRam:
    """The RAM of a paused guest: QEMU's mapping of the RAM file, including the guest's later stores.

    The caller must be allowed to read the process's memory; its parent process is.
    """

    def __init__(self, pid: int, path: Path, low_ram: int) -> None:
        self._low_ram = low_ram
        try:
            self._parts = ram_parts(pid, path)
            self._memory = Path(f"/proc/{pid}/mem").open("rb", buffering=0)  # noqa: SIM115 - closed with the object
        except OSError as error:
            raise UserError(f"the guest's memory cannot be read from the process of QEMU ({error})") from None

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
    """The kernel's virtual memory. UserError: an address is read that the kernel has not mapped."""

    kernel: Kernel
    ram: Ram

    @cached_property
    def direct(self) -> int:
        """The virtual address to which all physical memory is mapped."""
        return self._early("page_offset_base")

    @cached_property
    def vmemmap(self) -> int:
        """The address of the array of `struct page`."""
        return self._early("vmemmap_base")

    @cached_property
    def per_cpu_offsets(self) -> list[int]:
        """Offsets by processor, which are added to a per-CPU variable's symbol."""
        base = self.kernel.symbols.address("__per_cpu_offset")
        return [self.word(base + 8 * cpu) for cpu in range(self._early("nr_cpu_ids", 4))]

    def physical(self, virtual: int) -> int | None:
        """The physical address of a virtual address; None if it is not mapped."""
        if self.direct <= virtual < self.direct + (1 << 46):
            return virtual - self.direct
        return self.walk(self.kernel.symbols.address("init_top_pgt") - _IMAGE, virtual)

    def walk(self, table: int, virtual: int) -> int | None:
        """Walk the page tables that begin at the physical address `table`."""
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
                raise UserError(
                    "the guest's memory cannot be interpreted: its kernel has mapped no memory at the virtual "
                    f"address {virtual:#x}"
                )
            parts.append(part)
            virtual, size = virtual + here, size - here
        return b"".join(parts)

    def integer(self, virtual: int, size: int) -> int:
        """An unsigned integer."""
        return int.from_bytes(self.read(virtual, size), "little")

    def word(self, virtual: int) -> int:
        """Eight bytes: a pointer or an unsigned long."""
        return self.integer(virtual, 8)

    def value(self, base: int, path: str) -> int:
        """The field `structure.member...` of the structure at `base`, unsigned."""
        field = self.kernel.types.field(path)
        return self.integer(base + field.offset, field.size)

    def text(self, virtual: int, limit: int = 256) -> str:
        """The text up to a NUL byte."""
        here = min(limit, PAGE - virtual % PAGE)
        begin = self.read(virtual, here)
        if b"\0" not in begin and here < limit:
            begin += self.read(virtual + here, limit - here)
        return begin.split(b"\0", 1)[0].decode("utf-8", "replace")

    def symbol(self, name: str) -> int:
        """The first word of a variable."""
        return self.word(self.kernel.symbols.address(name))

    def per_cpu(self, name: str) -> Iterator[int]:
        """Addresses of the per-CPU variable, by processor."""
        return self.of_each_processor(self.kernel.symbols.address(name))

    def of_each_processor(self, pointer: int) -> Iterator[int]:
        """Addresses to which a per-CPU pointer leads, by processor."""
        return (base + pointer & _TOP for base in self.per_cpu_offsets)

    def entries(self, head: int, link: str) -> Iterator[int]:
        """The structures of a list (struct list_head at `head`) that are linked by the field `link`; at most 2^20."""
        inside, at = self.kernel.types.offset(link), self.word(head)
        for _ in range(1 << 20):
            if at == head:
                return
            yield at - inside
            at = self.word(at)
        raise UserError(f"the guest's memory cannot be interpreted: the kernel's linked list at {head:#x} has no end")

    def _early(self, name: str, size: int = 8) -> int:
        """A variable of the kernel image, read before the other mappings are known. The kernel lies at its linked
        address."""
        physical = self.kernel.symbols.address(name) - _IMAGE
        return int.from_bytes(self.ram.read(physical, size), "little")


def array_element(field: Field, index: int) -> Field:
    """One element of an array field. UserError: the index lies beyond the end."""
    if not 0 <= index < field.count:
        raise UserError(
            f"the guest's memory cannot be interpreted: an array of the kernel has {field.count} elements, so "
            f"element {index} does not exist"
        )
    return Field(field.offset + index * field.stride, field.stride, field.type)
