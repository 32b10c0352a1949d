# SPDX-License-Identifier: GPL-2.0-or-later
"""The memory of a warm guest, and its map."""

from __future__ import annotations

import pytest
from tests.lab import Lab

from s80lab.analysis.misses.memory import MemoryMap
from s80lab.analysis.misses.memory_build import map_memory
from s80lab.base import paths
from s80lab.guest.kernel.facts import load_kernel
from s80lab.guest.kernel.memory import KernelMemory, RamFile

IMAGE = paths.BUILD / "image" / "debian"


@pytest.fixture(scope="session")
def memory(whole: Lab) -> KernelMemory:
    """Of the warm checkpoint of imapb at tiny scale."""
    (run,) = [run for run in whole.runs() if run.name.startswith("imapb-tiny-s1-")]
    return KernelMemory(load_kernel(IMAGE), RamFile(whole.checkpoint_of(run) / "ram.img", 1 << 30))


@pytest.fixture(scope="session")
def memory_map(memory: KernelMemory) -> MemoryMap:
    return map_memory(memory)
