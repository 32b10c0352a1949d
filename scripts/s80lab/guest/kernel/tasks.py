# SPDX-License-Identifier: GPL-2.0-or-later
"""The tasks of a guest, from its memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from s80lab.guest.kernel.memory import KernelMemory

# Linux, include/linux/sched.h: a flag has no type that BTF could tell.
_PF_KTHREAD = 0x0020_0000


@dataclass(frozen=True)
class Task:
    """One thread. address: of its task_struct. mm: address of its memory map, 0 for a kernel thread."""

    address: int
    pid: int
    tgid: int
    comm: str
    kernel_thread: bool
    mm: int
    stack: int


def tasks(memory: KernelMemory) -> Iterator[Task]:
    """All threads except the idle threads, in the kernel's order."""
    types = memory.kernel.types
    head = memory.kernel.symbols.address("init_task") + types.offset("task_struct.tasks")
    for leader in memory.entries(head, "task_struct.tasks"):
        threads = memory.value(leader, "task_struct.signal") + types.offset("signal_struct.thread_head")
        for address in memory.entries(threads, "task_struct.thread_node"):
            yield task_at(memory, address)


def task_at(memory: KernelMemory, address: int) -> Task:
    """The task whose task_struct is at the address."""
    comm = memory.kernel.types.field("task_struct.comm")
    return Task(
        address=address,
        pid=memory.value(address, "task_struct.pid"),
        tgid=memory.value(address, "task_struct.tgid"),
        comm=memory.text(address + comm.offset, comm.size),
        kernel_thread=bool(memory.value(address, "task_struct.flags") & _PF_KTHREAD),
        mm=memory.value(address, "task_struct.mm"),
        stack=memory.value(address, "task_struct.stack"),
    )
