# SPDX-License-Identifier: GPL-2.0-or-later
"""Properties of the host and of its processes."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # macOS and Windows do not tell which cores a process may use
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def name() -> str:
    """The network name of the host. It distinguishes hosts that share a file system."""
    return platform.node()


VMSTAT = Path("/proc/vmstat")


def resident_bytes(pid: int) -> int:
    """Resident memory of a process in bytes; 0 if the process has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def out_of_memory_kills(vmstat: Path = VMSTAT) -> int | None:
    """Number of processes that the kernel has killed since it started because memory was full: the host's, or that of a
    control group. None if the system does not count them.
    """
    try:
        lines = vmstat.read_text().splitlines()
    except OSError:
        return None
    counts = [int(line.split()[1]) for line in lines if line.startswith("oom_kill ")]
    return counts[0] if counts else None
