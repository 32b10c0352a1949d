# SPDX-License-Identifier: GPL-2.0-or-later
"""Disk space, memory and time that an experiment needs, and a check that the host has them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.base.terminal import disk_size
from s80lab.config.experiment import Gem5Phases, Phases, Scale

GIB = 1 << 30
# Instructions a second of a guest with the model on one core: 51 to 79 M were measured where every core had one
# (results/reference/small). What a run takes beside them: copies, hashes, report.
SLOWEST_RUN = 50_000_000
TYPICAL_RUN = 55_000_000
START_S = 60.0
# The usual length of a warm-up and of a measured region, as factors of the least lengths.
TYPICAL_WARM_UP, TYPICAL_REGION = 1.1, 1.5
# A boot, and what each GB of mail adds: 80 s at scale tiny and 90 s at scale small were measured on two cores.
BOOT_S, FILL_S_PER_GB = 80.0, 10.0
# Kernel, initramfs, servers and page tables beside the mail in the guest's RAM file: 0.21 GB at scale tiny and 0.25 GB
# at scale small were measured (nine checkpoints of `make run`: 14.5 GB), and other servers take more.
GUEST_BASE = GIB // 2
# Private pages of a measured run, with QEMU's translated code and the model's caches.
RUN_MEMORY = 2 * GIB
# Resident memory that no process of gem5 may exceed, in bytes: guest, decoded instructions, Ruby's caches, directory.
GEM5_LIMIT = 8_000_000_000
# What gem5 takes beside the guest's RAM after the boot.
GEM5_MEMORY = 4 * GIB
# Instructions of a boot in gem5: the system with one processor and no clients, and what each processor, each client and
# each byte of mail adds. Only one boot was measured: 3.76 G with 18 processors, 36 clients and 78 MB (1.4 G of them the
# logins). So the shares are an estimate, which progress lines use until a boot is recorded.
GEM5_SYSTEM, GEM5_PER_PROCESSOR, GEM5_PER_CLIENT, GEM5_STORE_PER_BYTE = 1_200_000_000, 50_000_000, 39_000_000, 3
# Instructions a second of a measured run in gem5: 0.17 to 0.25 M were measured (docs/guides/gem5.md).
GEM5_RUN = 170_000
# The same of a boot and of a warm-up without caches: 1.1 to 2.5 M were measured.
GEM5_ATOMIC = 1_500_000


@dataclass(frozen=True)
class Need:
    """Bytes needed on the disk of the checkpoints, and bytes of memory (without page cache)."""

    disk: int
    memory: int

    def __str__(self) -> str:
        disk = f"{disk_size(self.disk)} of disk and " if self.disk else ""
        return f"{disk}{self.memory / GIB:.1f} GiB of memory"


@dataclass(frozen=True)
class Cost:
    """The cost of one run or replay: a high estimate from measurements. core_s: seconds of one core; memory: bytes."""

    core_s: float
    memory: int


def run_cost(phases: Phases, scale: Scale) -> Cost:
    """The cost of a seed's warm-up and measured run from a ready checkpoint.

    The estimate assumes the longest warm-up, and a measured region of twice its least length. It includes the page
    cache for the guest's RAM, because batch systems count page cache as memory.
    """
    length = phases.warmup_max + phases.skip + 2 * phases.measure
    return Cost(START_S + length / SLOWEST_RUN, RUN_MEMORY + checkpoint_bytes(scale))


def typical_s(phases: Phases) -> float:
    """Expected seconds of a seed's warm-up and measured run on one core, for progress lines.

    The estimate assumes that the warm-up ends soon after its least length.
    """
    length = TYPICAL_WARM_UP * phases.warmup_min + phases.skip + TYPICAL_REGION * phases.measure
    return START_S + length / TYPICAL_RUN


def boot_s(scale: Scale) -> float:
    """Expected seconds of a boot with a new mail store under QEMU, for hosts that have no record of one."""
    return BOOT_S + FILL_S_PER_GB * scale.store_bytes() / 1e9


def gem5_run_s(phases: Gem5Phases) -> float:
    """Expected seconds of a measured run in gem5 from a warm checkpoint, for progress lines."""
    return (phases.warmup + phases.measure) / GEM5_RUN


def gem5_boot_instructions(processors: int, clients: int, scale: Scale) -> int:
    """Expected instructions of a boot in gem5 until the clients are logged in, for hosts that have no record of one."""
    store = GEM5_STORE_PER_BYTE * scale.store_bytes()
    return int(GEM5_SYSTEM + GEM5_PER_PROCESSOR * processors + GEM5_PER_CLIENT * clients + store)


def checkpoint_bytes(scale: Scale) -> int:
    """Disk space of one checkpoint in bytes.

    The RAM file is sparse: pages that the guest never touched take no space. A guest with disks touches all pages,
    because of its page cache.
    """
    return scale.memory() if scale.disks else min(scale.ram, int(scale.store_bytes() * 1.15) + GUEST_BASE)


def need(scale: Scale, checkpoints: int, at_once: int) -> Need:
    """The need for building a number of checkpoints and running `at_once` guests at the same time."""
    return Need(checkpoints * checkpoint_bytes(scale), at_once * RUN_MEMORY)


def require(needed: Need, folder: Path) -> None:
    """UserError if the disk of `folder` or the memory is too small. The folder need not exist yet."""
    disk = free_disk(folder)
    if disk < needed.disk:
        raise UserError(
            f"{folder}: {disk_size(needed.disk)} of disk are needed, but {disk_size(disk)} are free: "
            "remove old checkpoints (`s80lab checkpoint prune`), remove each warm checkpoint after its run "
            "(`s80lab run --drop-warm`), or set S80LAB_CHECKPOINTS to a folder on another disk"
        )
    memory = available_memory()
    if memory < needed.memory:
        raise UserError(
            f"{needed.memory / GIB:.1f} GiB of memory are needed, but {memory / GIB:.1f} GiB are available: "
            "end other programs, or run fewer guests in parallel (--jobs 1)"
        )


def free_disk(folder: Path) -> int:
    """Free bytes on the disk of a folder that need not exist yet."""
    existing = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.is_dir())
    return shutil.disk_usage(existing).free


def available_memory(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Bytes of memory that new processes can use without swapping."""
    if not meminfo.is_file():
        raise UserError(f"this command needs Linux: {meminfo} is missing, so the available memory is unknown")
    for line in meminfo.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise UserError(f"{meminfo}: the line MemAvailable is missing, so the available memory is unknown")
