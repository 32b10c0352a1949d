# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's clock is simulated time, and execution feels stalls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.lab import Lab
from tests.programs.program import PROCESSORS, Measured, Run, measure

from s80lab.config.machine import load_machine

MS = 1_000_000
IDLE = Run("clock", 2, 20, work=625_000)  # 16 rounds of 0.625 s
BUSY = Run("clock", 8, 4000)


@pytest.fixture(scope="module")
def measured(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Mapping[Run, Measured]:
    return {of.run: of for of in measure(tmp_path_factory.mktemp("programs"), [IDLE, BUSY])}


def test_ten_idle_seconds_of_the_guest_are_ten_simulated_seconds(measured: Mapping[Run, Measured]) -> None:
    idle = measured[IDLE]
    assert idle.guest_ns == pytest.approx(10_000 * MS, abs=10 * MS)
    assert idle.guest_ns == pytest.approx(idle.region.clock_ns, abs=MS)


def test_clock_of_a_busy_guest_is_simulated_time(measured: Mapping[Run, Measured]) -> None:
    busy = measured[BUSY]
    assert busy.guest_ns > 2 * MS
    assert busy.guest_ns == pytest.approx(busy.region.clock_ns, abs=MS)


def test_clocks_never_go_back_and_differ_by_one_epoch_at_most(measured: Mapping[Run, Measured]) -> None:
    machine = load_machine("s80")
    epoch_ns = machine.clock.epoch_cycles / machine.processors.clock_hz * 1e9
    printed = measured[BUSY].printed
    assert printed["steps_back"] == 0
    assert 0 < printed["behind_ns"] <= epoch_ns


def test_processor_with_slow_memory_executes_fewer_instructions(lab: Lab, tmp_path: Path) -> None:
    """The latencies of the second half of the processors are eight times as long. Each load of the program hits the L2,
    so an instruction takes 1 + latency x loads / instructions cycles."""
    (of,) = measure(tmp_path, [Run("stride", 8, 150)], plugin={"slow": 8})
    latency = load_machine("s80").latency.l2_hit
    instructions = of.region.by("instructions", "core")
    loads = of.region.by("accesses", "core", "kind")[:, of.region.header.labels["kind"].index("load")]
    fast, slow = slice(1, PROCESSORS // 2), slice(PROCESSORS // 2, 9)
    a_load = loads[fast].sum() / instructions[fast].sum()
    ratio = (1 + 8 * latency * a_load) / (1 + latency * a_load)
    assert ratio > 4
    assert instructions[fast].mean() / instructions[slow].mean() == pytest.approx(ratio, rel=0.05)
