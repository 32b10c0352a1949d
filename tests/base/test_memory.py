# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory of a process, and the kernel's count of processes killed because memory was full."""

from __future__ import annotations

import os
from pathlib import Path

from s80lab.base.host import out_of_memory_kills, resident_bytes


def test_resident_memory_grows_with_a_written_buffer() -> None:
    before = resident_bytes(os.getpid())
    buffer = bytearray(os.urandom(1 << 20) * 64)
    assert resident_bytes(os.getpid()) - before > 32 << 20
    assert len(buffer) == 64 << 20


def test_resident_memory_of_an_ended_process_is_zero() -> None:
    assert resident_bytes(0) == 0


def test_kills_are_counted_by_the_kernel(tmp_path: Path) -> None:
    vmstat = tmp_path / "vmstat"
    vmstat.write_text("pgfault 12\noom_kill 3\noom_kill_x 4\n")
    assert out_of_memory_kills(vmstat) == 3


def test_kills_are_unknown_without_a_count(tmp_path: Path) -> None:
    vmstat = tmp_path / "vmstat"
    assert out_of_memory_kills(vmstat) is None
    vmstat.write_text("pgfault 12\n")
    assert out_of_memory_kills(vmstat) is None
