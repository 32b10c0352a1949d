# SPDX-License-Identifier: GPL-2.0-or-later
"""Mail on disks in the real guest: nothing fails, and the disks are as busy as their service time says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.lab import Lab

from s80lab.base import paths
from s80lab.config.experiment import load_scale
from s80lab.guest.kernel.disks import mounted_disks
from s80lab.guest.kernel.facts import load_kernel
from s80lab.guest.kernel.memory import KernelMemory, RamFile

pytestmark = pytest.mark.guest

PROCESSORS = 4  # they boot in a third of the time
SETTINGS = ("--set", "scale.storage=disk", "--set", "scale.disk.count=2", "--set", f"processors.count={PROCESSORS}")


@pytest.fixture(scope="module")
def disks(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """With checkpoints of its own, which nobody else has a use for."""
    del lab  # it has built the image
    folder = tmp_path_factory.mktemp("disks")
    return Lab(folder / "checkpoints", folder / "results")


@pytest.fixture(scope="module")
def run(disks: Lab) -> Path:
    disks.run_tiny("imapb", "--seeds", "1", *SETTINGS)
    (folder,) = disks.runs()
    return folder


def test_no_transaction_fails(run: Path) -> None:
    result = json.loads((run / "transactions.json").read_text())
    assert set(result["errors"].values()) == {0}
    design = json.loads((run / "manifest.json").read_text())["design"]
    assert (design["scale.storage"], design["scale.disk.count"]) == ("disk", 2)


def test_a_disk_ends_a_request_at_a_tick_and_serves_one_at_a_time(run: Path) -> None:
    metrics = json.loads((run / "stats.json").read_text())["metrics"]
    assert metrics["disk_rate.writes"] > 0
    for number in range(2):
        assert 0 < metrics[f"disk_utilisation.nullb{number}"] <= 1
    # A request that finds the disk idle ends at the next tick of 10 ms, one that has waited a tick later than the last.
    assert 2 < metrics["disk_service_ms"] < 12
    assert metrics["disk_response_ms"] >= metrics["disk_service_ms"] * 0.9


def test_the_guests_own_memory_has_two_disks(disks: Lab, run: Path) -> None:
    ram = disks.checkpoint_of(run) / "ram.img"
    scale = load_scale("tiny", {"storage": "disk", "disk.count": 2})
    assert ram.stat().st_size == scale.memory() < scale.ram
    memory = KernelMemory(load_kernel(paths.BUILD / "image" / "debian"), RamFile(ram, scale.memory()))
    found = list(mounted_disks(memory))
    assert {disk.name for disk in found} == {"nullb0", "nullb1"}
    assert all(len(disk.statistics) == PROCESSORS for disk in found)
