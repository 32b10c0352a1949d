# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's own counters in a run's snapshots, against the same counters in the checkpoint's memory."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.guest.counters import watch_list
from s80lab.guest.kernel.address_space import tasks
from s80lab.guest.kernel.facts import load_kernel
from s80lab.guest.kernel.memory import KernelMemory, RamFile


@pytest.fixture(scope="module")
def run(whole: Lab) -> Path:
    (folder,) = [run for run in whole.runs() if run.name.startswith("imapb-tiny-s1-")]
    return folder


@pytest.fixture(scope="module")
def warm(whole: Lab, run: Path) -> KernelMemory:
    """The memory of the checkpoint that the run began with."""
    kernel = load_kernel(paths.BUILD / "image" / "debian")
    return KernelMemory(kernel, RamFile(whole.checkpoint_of(run) / "ram.img", 1 << 30))


@pytest.mark.guest
def test_counters_go_on_from_those_of_the_checkpoint(run: Path, warm: KernelMemory) -> None:
    before: Counter[str] = Counter()
    for watched in watch_list(warm):
        before[watched.name] += int.from_bytes(warm.ram.read(watched.address, watched.size), "little")
    lines = [json.loads(line)["guest"] for line in (run / "snapshots.jsonl").read_text().splitlines()[1:]]
    assert set(lines[0]) == set(before)
    for earlier, later in zip([before, *lines], lines, strict=False):
        assert all(later[name] >= earlier[name] for name in later)
    for name in ("interrupt.timer", "context_switches", "softirq.rcu", "task_ns.imap"):
        assert lines[-1][name] > before[name] > 0


@pytest.mark.guest
def test_guest_tasks_are_the_servers_and_the_load_generator(warm: KernelMemory) -> None:
    names = Counter(task.comm for task in tasks(warm))
    assert names["imap"] == 32  # a session for each client of the scale
    assert names["imap-login"] == 18 and names["s80-loadgen"] == 1
    by_pid = {task.pid: task for task in tasks(warm)}
    assert by_pid[1].comm == "init" and not by_pid[1].kernel_thread
    assert by_pid[2].comm == "kthreadd" and by_pid[2].kernel_thread and by_pid[2].mm == 0


@pytest.mark.guest
def test_load_generator_is_the_only_real_time_task(warm: KernelMemory) -> None:
    fifo = 1  # SCHED_FIFO, include/uapi/linux/sched.h
    processes = [task for task in tasks(warm) if not task.kernel_thread]
    real_time = [task.comm for task in processes if warm.value(task.address, "task_struct.policy") == fifo]
    assert real_time == ["s80-loadgen"]
    limit = warm.integer(warm.kernel.symbols.address("sysctl_sched_rt_runtime"), 4)
    assert limit == 2**32 - 1  # none


@pytest.mark.guest
def test_virtual_addresses_are_found_by_the_page_tables(warm: KernelMemory) -> None:
    banner = warm.kernel.symbols.address("linux_banner")
    assert warm.text(banner).startswith(f"Linux version {warm.kernel.version} ")
    (memory_of,) = [task.mm for task in tasks(warm) if task.comm == "s80-loadgen"]
    code = warm.value(memory_of, "mm_struct.start_code")
    table = warm.value(memory_of, "mm_struct.pgd") - warm.direct
    physical = warm.walk(table, code)
    assert physical is not None
    assert warm.ram.read(physical, 64) in (paths.BUILD / "bin" / "s80-loadgen").read_bytes()
    assert warm.physical(0x1000) is None
