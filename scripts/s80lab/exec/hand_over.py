# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a file into the memory of a paused guest, through the memory of QEMU's process (proc(5))."""

from __future__ import annotations

import shutil
from pathlib import Path

from s80lab.base.errors import UserError
from s80lab.guest.kernel.memory import ram_parts


def write_memory(pid: int, ram: Path, offset: int, content: Path) -> None:
    """Write a file to an offset of the guest's RAM file. QEMU's mapping of the RAM file is private, so the file stays
    as it is.

    pid: QEMU's process. UserError: the system does not let this process write."""
    try:
        begin = next(begin for at, begin, _ in ram_parts(pid, ram) if at == 0)
        with Path(f"/proc/{pid}/mem").open("r+b", buffering=0) as memory, content.open("rb") as source:
            memory.seek(begin + offset)
            shutil.copyfileobj(source, memory, 1 << 22)
    except StopIteration:
        raise UserError(f"QEMU's process {pid} has no mapping of {ram}") from None
    except PermissionError:
        raise UserError(
            "the system does not allow s80lab to write into the memory of QEMU, which it started: allow ptrace of "
            "child processes (kernel.yama.ptrace_scope at most 1)"
        ) from None
