# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the kernel's own counters from the guest's memory at every snapshot.

The plugin reads the counters when a snapshot is due, at an exact instruction, and writes their sums into the snapshot
(docs/reference/interfaces/guest-kernel.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.guest.kernel.address_space import tasks
from s80lab.guest.kernel.memory import KernelMemory, array_element
from s80lab.guest.kernel.types import Field


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


WATCH = "watch.txt"

# Counters of each processor: name, then per-CPU variable and member.
_PER_CPU = {
    "interrupt.timer": "irq_stat.apic_timer_irqs",
    "interrupt.reschedule": "irq_stat.irq_resched_count",
    "interrupt.call": "irq_stat.irq_call_count",
    "interrupt.device": "kstat.irqs_sum",
    "context_switches": "runqueues.nr_switches",
    "waiting_ns": "runqueues.rq_sched_info.run_delay",
}
_EVENTS = {
    "page_faults": "PGFAULT",
    "page_activations": "PGACTIVATE",
    "pages_freed": "PGFREE",
}
_SOFTIRQ = "_SOFTIRQ"
# Of what the kernel keeps of a processor's time (enum cpu_usage_stat).
_TIMES = {"cpu_ns.idle": "CPUTIME_IDLE", "cpu_ns.iowait": "CPUTIME_IOWAIT"}
# Of each disk: name, then member of disk_stats and its elements (reads and writes; enum stat_group).
_DISK = {
    "disk.reads": ("ios", "STAT_READ"),
    "disk.writes": ("ios", "STAT_WRITE"),
    "disk.sectors_read": ("sectors", "STAT_READ"),
    "disk.sectors_written": ("sectors", "STAT_WRITE"),
    "disk_ns.reads": ("nsecs", "STAT_READ"),
    "disk_ns.writes": ("nsecs", "STAT_WRITE"),
}
KERNEL_THREADS = "kernel"


@dataclass(frozen=True)
class Watched:
    """One unsigned integer of `size` bytes at a guest-physical address. guard: an address and the 4-byte value that it
    must hold. While it holds another value, the memory belongs to another object, and the last value read counts."""

    name: str
    address: int
    size: int
    guard: tuple[int, int] | None = None

    def line(self) -> str:
        guarded = "" if self.guard is None else f" {self.guard[0]:#x} {self.guard[1]}"
        return f"{self.name} {self.address:#x} {self.size}{guarded}\n"


def write_watch(path: Path, memory: KernelMemory) -> None:
    """Write the addresses of the counters in the guest of a checkpoint, also those of its mounted disks, for the
    plugin."""
    path.write_text("".join(watched.line() for watched in watch_list(memory)))


def watch_list(memory: KernelMemory) -> list[Watched]:
    """All counters. Values with the same name are summed."""
    return [*_of_processors(memory), *_of_machine(memory), *_of_disks(memory), *_of_tasks(memory)]


def _of_processors(memory: KernelMemory) -> Iterator[Watched]:
    types = memory.kernel.types
    fields = {name: (path.split(".")[0], types.variable(path)) for name, path in _PER_CPU.items()}
    softirqs = types.variable("kstat.softirqs")
    for label, number in types.enumeration_with(f"TIMER{_SOFTIRQ}").items():
        if label.endswith(_SOFTIRQ) and number < softirqs.count:
            fields[f"softirq.{label.removesuffix(_SOFTIRQ).lower()}"] = ("kstat", array_element(softirqs, number))
    events, numbers = types.variable("vm_event_states.event"), types.enumerators("vm_event_item")
    for name, label in _EVENTS.items():
        fields[name] = ("vm_event_states", array_element(events, numbers[label]))
    times, kinds = types.variable("kernel_cpustat.cpustat"), types.enumerators("cpu_usage_stat")
    for name, label in _TIMES.items():
        fields[name] = ("kernel_cpustat", array_element(times, kinds[label]))
    for name, (variable, field) in fields.items():
        for base in memory.per_cpu(variable):
            yield _watched(memory, name, base, field)


def _of_machine(memory: KernelMemory) -> Iterator[Watched]:
    yield _watched(memory, "forks", memory.kernel.symbols.address("total_forks"), Field(0, 8, 0))
    yield _watched(memory, "jiffies", memory.kernel.symbols.address("jiffies_64"), Field(0, 8, 0))


def _of_disks(memory: KernelMemory) -> Iterator[Watched]:
    types = memory.kernel.types
    groups = types.enumerators("stat_group")
    for disk in mounted_disks(memory):
        for base in disk.statistics:
            for name, (member, group) in _DISK.items():
                yield _watched(memory, name, base, array_element(types.field(f"disk_stats.{member}"), groups[group]))
            yield _watched(memory, f"disk_busy_jiffies.{disk.name}", base, types.field("disk_stats.io_ticks"))


def _of_tasks(memory: KernelMemory) -> Iterator[Watched]:
    types = memory.kernel.types
    pid = types.field("task_struct.pid")
    for task in tasks(memory):
        name = KERNEL_THREADS if task.kernel_thread else re.sub(r"[^\w-]", "_", task.comm, flags=re.ASCII)
        guard = (_physical(memory, task.address + pid.offset), task.pid)
        for what, path in (("task_ns", "sum_exec_runtime"), ("task_migrations", "nr_migrations")):
            yield _watched(memory, f"{what}.{name}", task.address, types.field(f"task_struct.se.{path}"), guard)


def _watched(memory: KernelMemory, name: str, base: int, field: Field, guard: tuple[int, int] | None = None) -> Watched:
    return Watched(name, _physical(memory, base + field.offset), field.size, guard)


def _physical(memory: KernelMemory, virtual: int) -> int:
    physical = memory.physical(virtual)
    if physical is None:
        raise UserError(
            "a kernel counter cannot be found: the guest's kernel has mapped no memory at the virtual address "
            f"{virtual:#x}"
        )
    return physical
