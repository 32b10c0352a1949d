# SPDX-License-Identifier: GPL-2.0-or-later
"""The shape of a program's guest: what QEMU needs to boot it; and its checkpoint, which every program of this shape
begins at.

The guest's memory has a reserved range. The host writes a file system image there before the restored guest goes on,
and the guest mounts it (docs/reference/interfaces/exec-guest.md).
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.hashing import file_hash, value_hash
from s80lab.base.progress import Job
from s80lab.base.strict import size_text
from s80lab.config.machine import GIB, Machine, low_ram
from s80lab.exec.image import plain_folder
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import GUEST_STATE, Checkpoint, Wanted
from s80lab.guest.command import RAM_FILE, Session, guest_options, option_value
from s80lab.guest.process import Guest, short_socket
from s80lab.guest.qemu import Qemu

# Where QEMU's machine `pc` continues memory behind the PCI hole; and the offset of this place in the RAM file.
RANGE_AT, RANGE_OFFSET = 4 * GIB, 3 * GIB
RANGE = 2 * GIB
"""Bytes of the range: the largest file system image."""
LEAST_MEMORY = 3 * GIB
STREAMS = ("stdout", "stderr")
FILES = "files.tar"
"""What the guest sends back, as a tar archive."""
PORTS = (*STREAMS, FILES)
RELAY = "s80-relay"
"""Name of the guest's process that relays the program's output (workloads/exec/init.c)."""
BOOT_LIMIT_S = 600.0


@dataclass(frozen=True)
class Shape:
    """See the module. own_memory: bytes of the guest's memory without the reserved range."""

    machine: Machine
    own_memory: int = LEAST_MEMORY
    number: int = 1

    @property
    def kernel(self) -> Path:
        return plain_folder() / "vmlinuz"

    @property
    def initramfs(self) -> Path:
        return plain_folder() / "initramfs.cpio"

    def memory(self) -> int:
        return self.own_memory + RANGE

    def append(self) -> str:
        return f"{self.machine.kernel_args()} memmap={RANGE >> 20}M!{RANGE_AT >> 20}M"

    def devices(self) -> Sequence[str]:
        # Without ioeventfd the vCPU's own thread does the work of the device: the guest does not see the host's time.
        ports = (("-device", f"virtserialport,chardev={name},nr={nr}") for nr, name in enumerate(PORTS, 1))
        return ["-device", "virtio-serial-pci,ioeventfd=off", *(word for port in ports for word in port)]

    def backends(self, folder: Path) -> Sequence[str]:
        files = (("-chardev", f"file,id={name},path={option_value(folder / name)}") for name in PORTS)
        return [word for file in files for word in file]

    @property
    def low_ram(self) -> int:
        return low_ram(self.memory())

    @cached_property
    def inputs(self) -> dict[str, str]:
        """Everything on which the checkpoint depends."""
        return {
            "kernel": file_hash(self.kernel),
            "initramfs": file_hash(self.initramfs),
            "guest_options": value_hash({"options": json.dumps(guest_options(self))}),
        }

    def wanted(self, qemu: Qemu) -> Wanted:
        """The checkpoint."""
        inputs = {**self.inputs, "qemu": qemu.binary_hash}
        key = value_hash(inputs)
        return Wanted("ready", f"exec-{self.machine.processors.count}-{key[:12]}", key, inputs)


def check_memory(shape: Shape) -> None:
    """UserError: the host has less memory than the guest may use."""
    host = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if shape.memory() > host:
        raise UserError(
            f"the guest needs {size_text(shape.own_memory)} and {size_text(RANGE)} for files, but this host has only "
            f"{host / GIB:.0f} GiB of memory: choose a smaller --memory"
        )


async def ready(shape: Shape, qemu: Qemu, job: Job) -> Checkpoint:
    """The checkpoint of the booted guest, built unless it exists."""

    async def make(folder: Path) -> dict[str, object]:
        session = Session(folder=folder, ram=folder / RAM_FILE, shared=True, socket=folder)
        with short_socket(session) as session:
            async with Guest(qemu, shape, session, "boot of the guest") as guest:
                await guest.event("ready", BOOT_LIMIT_S, lambda: job.update("boot"))
                await guest.save(folder / GUEST_STATE)
                await guest.quit()
        return {"qemu_version": qemu.version}

    return await checkpoint.build(shape.wanted(qemu), job, make, nullcontext())
