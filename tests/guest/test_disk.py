# SPDX-License-Identifier: GPL-2.0-or-later
"""Mail on disks in the real guest: nothing fails, and the disks are as busy as their service time says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.experiment.short_region import short_region
from tests.lab import Lab

from s80lab.base import paths
from s80lab.commands.pipeline import make_plans
from s80lab.config.experiment import load_scale
from s80lab.experiment import checkpoint
from s80lab.experiment.plan import Options
from s80lab.guest.counters import mounted_disks
from s80lab.guest.kernel.facts import load_kernel
from s80lab.guest.kernel.memory import PAGE, KernelMemory, RamFile
from s80lab.results.snapshots import Delta

pytestmark = pytest.mark.guest

PROCESSORS = 4  # they boot in a third of the time
CHOSEN = {"scale.storage": "disk", "scale.disk.count": 2, "processors.count": PROCESSORS}
SETTINGS = [word for key, value in CHOSEN.items() for word in ("--set", f"{key}={value}")]
SERVICE_MS = 10  # of the scale's disks
TICK_MS = 4  # the kernel counts a disk's busy time in ticks
MEASURE, INTERVAL = 200_000_000, 40_000_000
SCALE = load_scale("tiny", {"storage": "disk", "disk.count": 2})


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


def test_run_with_mail_on_disks_has_no_errors(run: Path) -> None:
    result = json.loads((run / "transactions.json").read_text())
    assert set(result["errors"].values()) == {0}
    design = json.loads((run / "manifest.json").read_text())["design"]
    assert (design["scale.storage"], design["scale.disk.count"]) == ("disk", 2)


def test_disk_serves_one_request_at_a_time_in_its_service_time(run: Path) -> None:
    stats = json.loads((run / "stats.json").read_text())
    metrics = stats["metrics"]
    # The kernel adds the time of a request when it ends, also the part before the region.
    before_region = 1e6 * (SERVICE_MS + TICK_MS) / stats["region"]["clock_ns"]
    assert metrics["disk_rate.writes"] > 0
    for number in range(2):
        assert 0 < metrics[f"disk_utilisation.nullb{number}"] <= 1 + before_region
    assert metrics["disk_service_ms"] == pytest.approx(SERVICE_MS, rel=0.2)
    assert metrics["disk_response_ms"] >= metrics["disk_service_ms"] * 0.9


@pytest.fixture(scope="module")
def memory(disks: Lab, run: Path) -> KernelMemory:
    """The warm guest's."""
    ram = disks.checkpoint_of(run) / "ram.img"
    assert ram.stat().st_size == SCALE.memory() < SCALE.ram
    return KernelMemory(load_kernel(paths.BUILD / "image" / "debian"), RamFile(ram, SCALE.memory()))


def test_guest_memory_shows_two_disks(memory: KernelMemory) -> None:
    found = list(mounted_disks(memory))
    assert {disk.name for disk in found} == {"nullb0", "nullb1"}
    assert all(len(disk.statistics) == PROCESSORS for disk in found)


def test_page_cache_holds_all_mail(memory: KernelMemory) -> None:
    """What files have in memory, by the kernel's own count, but for those that lie there alone."""
    counts, first = memory.kernel.types.enumerators("node_stat_item"), memory.kernel.symbols.address("vm_node_stat")
    files, in_memory = (memory.word(first + 8 * counts[name]) for name in ("NR_FILE_PAGES", "NR_SHMEM"))
    assert SCALE.disk is not None
    assert SCALE.store_bytes() * 0.98 < (files - in_memory) * PAGE < SCALE.disk.page_cache


def measured(disks: Lab, dma: bool, folder: Path) -> Delta:
    """A short region from the warm checkpoint."""
    with disks.entered():
        (plan,) = make_plans(["imapb"], Options(scale="tiny", seeds=[1], settings=dict(CHOSEN)))
        warm = checkpoint.find(plan.keys.warm.name, plan.keys.warm.key)
        assert warm is not None and plan.scale.disk is not None
        disk = plan.scale.disk.model_copy(update={"dma": dma})
        plan = replace(plan, scale=plan.scale.model_copy(update={"disk": disk}))
        return short_region(plan, warm, folder, MEASURE, INTERVAL)


def test_disk_with_dma_causes_fewer_kernel_misses(disks: Lab, run: Path, tmp_path: Path) -> None:
    """What hands requests over are threads of the kernel, which do little else but clear up behind the programs that
    deliver; a processor that copies a written page misses it, and stores to the disk's own pages."""
    del run  # it has made the checkpoint
    copied, by_itself = (measured(disks, dma, tmp_path / f"dma-{dma}") for dma in (False, True))

    def a_thousand(region: Delta, kind: str) -> float:
        of = {"class": "kernel", "privilege": "kernel"}
        return 1000 * region.total("l2_misses", kind=kind, **of) / region.total("instructions", **of)

    assert copied.guest["disk.writes"] > 0 and by_itself.guest["disk.writes"] > 0
    assert a_thousand(by_itself, "store") < a_thousand(copied, "store") * 0.75
    assert a_thousand(by_itself, "load") < a_thousand(copied, "load")


def test_capture_with_disk_dma_is_refused(disks: Lab) -> None:
    said = disks.call("capture", "imapb", "--scale", "tiny", *SETTINGS, "--set", "scale.disk.dma=true", code=2)
    assert said.endswith(
        "s80lab: scale.disk.dma = true: a capture cannot record the memory accesses of disks; "
        "add --set scale.disk.dma=false\n"
    )
