# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of a process, and whether the system has killed processes because it was out of memory."""

from __future__ import annotations

import os
from pathlib import Path

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
