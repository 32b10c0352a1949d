# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures made of drawn accesses: no guest is needed to replay and to explore."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.lab import Lab

from s80lab.capture.store import Capture, open_capture
from s80lab.config.machine import Machine, load_machine
from s80lab.trace import order, tool

PROCESSORS = 4
SMALL = {
    "processors.count": PROCESSORS,
    "l1i.size": "4KiB",
    "l1d.size": "4KiB",
    "l2.size": "64KiB",
}


def small_machine() -> Machine:
    return load_machine("s80", SMALL)


def drawn(seed: int, accesses: int) -> order.Order:
    """Runs of accesses by one processor after the other: a third to lines that all share, the rest to its own."""
    draw = np.random.default_rng(seed)
    processor = np.repeat(draw.integers(0, PROCESSORS, accesses // 20), 20)
    shared = draw.random(len(processor)) < 0.3
    own = 2000 * (processor + 1) + draw.integers(0, 1500, len(processor))
    line = np.where(shared, draw.integers(0, 400, len(processor)), own)
    op = draw.choice([0, 1, 2], len(processor), p=[0.3, 0.5, 0.2])
    return order.make(processor, op, line)


def write_capture(path: Path, seed: int = 1, accesses: int = 100_000) -> Path:
    """A full capture of drawn accesses."""
    tool.to_capture(
        drawn(seed, accesses),
        small_machine(),
        path,
        lines=20_000,
        protocol="moesi",
        origin='{"experiment": "drawn", "workload": "drawn", "seed": 7}',
    )
    return path


def damaged(source: Path, target: Path, cut: int = 0) -> Path:
    """A copy with a changed byte in its middle, or without its last `cut` bytes."""
    content = bytearray(source.read_bytes())
    if cut:
        del content[-cut:]
    else:
        content[len(content) // 2] ^= 1
    target.write_bytes(content)
    return target


@pytest.fixture(scope="session")
def drawn_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Not to be written to."""
    return write_capture(tmp_path_factory.mktemp("captures") / "drawn.s80c")


@pytest.fixture
def place(tmp_path: Path) -> Lab:
    """A laboratory with checkpoints, captures and results of its own."""
    return Lab(tmp_path / "checkpoints", tmp_path / "results")


@pytest.fixture
def inside(place: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """The same for code that is called, not started."""
    for name, value in place.environment().items():
        if name.startswith("S80LAB_"):
            monkeypatch.setenv(name, value)
    return place


@pytest.fixture(scope="session")
def full(drawn_file: Path) -> Capture:
    return open_capture(str(drawn_file))


@pytest.fixture(scope="session")
def filtered(full: Capture) -> Capture:
    """The same as if it had been filtered, for what is refused before anything is played."""
    return replace(full, form="filtered")
