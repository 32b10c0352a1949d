# SPDX-License-Identifier: GPL-2.0-or-later
"""The estimate of runs before they start: from the phases, and from former runs. Disk and memory are looked at before
anything starts."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from s80lab.base.errors import UserError
from s80lab.config.experiment import Phases, load_scale
from s80lab.experiment import checkpoint, resources
from s80lab.experiment import estimate as module
from s80lab.experiment.checkpoint import Keys, Wanted
from s80lab.experiment.estimate import Former, estimate, former_runs
from s80lab.experiment.plan import Plan
from s80lab.experiment.resources import GIB, Need, available_memory, checkpoint_bytes, require

NO_RUNS = Former({}, {})
PHASES = Phases(
    warmup_min=1_000_000_000, warmup_max=3_000_000_000, sampling_interval=100_000_000, measure=2_000_000_000
)


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A lab without checkpoints and runs."""
    monkeypatch.setenv("S80LAB_CHECKPOINTS", str(tmp_path / "checkpoints"))
    monkeypatch.setenv("S80LAB_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(module, "measured", lambda plan: None)
    monkeypatch.setattr(checkpoint, "exists", lambda name, key: False)
    return tmp_path


def plans(seeds: Sequence[int], boots: Sequence[str] = ("a",)) -> list[Plan]:
    scale = load_scale("tiny")
    return [
        cast(
            Plan,
            SimpleNamespace(
                name="mix",
                scale_name="tiny",
                seed=seed,
                scale=scale,
                phases=PHASES,
                keys=Keys(
                    Wanted("ready", f"ready-tiny-{boot}", boot, {}),
                    Wanted("warm", f"warm-mix-tiny-s{seed}-{boot}", f"{boot}{seed}", {}),
                    {},
                ),
            ),
        )
        for boot in boots
        for seed in seeds
    ]


def test_first_estimate_comes_from_phases_and_documented_speed(empty: Path) -> None:
    found = estimate(plans([1, 2, 3]), 2, NO_RUNS)
    assert (found.runs, found.complete, found.boots, found.warm_ups, found.former) == (3, 0, 1, 3, 0)
    assert [found.warm_instructions, found.region_instructions] == pytest.approx([3.3e9, 9e9])
    boot, run = resources.boot_s(load_scale("tiny")), 60 + (1.1e9 + 3e9) / 55e6
    assert found.core_s == pytest.approx(boot + 3 * run)
    assert found.wall_s == pytest.approx(boot + 2 * run)  # the third run follows the first
    assert found.checkpoint_bytes == 4 * resources.checkpoint_bytes(load_scale("tiny"))


def test_former_runs_give_lengths_and_speed(empty: Path) -> None:
    former = Former({("mix", "tiny"): [(2_000_000_000, 2_500_000_000), (9_000_000_000, 1)]}, {"tiny": [20.0, 30.0]})
    found = estimate(plans([1]), 2, former)
    assert (found.mips, found.former) == (25.0, 2)
    # The median of the warm-ups, 5.5 G, is more than the longest one; that of the regions less than the shortest.
    assert (found.warm_instructions, found.region_instructions) == (3e9, 2e9)
    assert found.core_s == pytest.approx(resources.boot_s(load_scale("tiny")) + 60 + 5e9 / 25e6)


def test_complete_runs_and_existing_checkpoints_cost_nothing(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "exists", lambda name, key: name != "warm-mix-tiny-s3-a")
    monkeypatch.setattr(module, "measured", lambda plan: Path("run") if plan.seed == 1 else None)
    found = estimate(plans([1, 2, 3]), 2, NO_RUNS)
    assert (found.complete, found.runs, found.boots, found.warm_ups) == (1, 2, 0, 1)
    assert [found.warm_instructions, found.region_instructions] == pytest.approx([1.1e9, 6e9])
    monkeypatch.setattr(module, "measured", lambda plan: Path("run"))
    assert estimate(plans([1]), 2, NO_RUNS).lines() == ["estimate: 1 run, all complete"]


def test_run_with_its_warm_checkpoint_needs_no_boot(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "exists", lambda name, key: name.startswith("warm-"))
    found = estimate(plans([1, 2]), 2, NO_RUNS)
    assert (found.runs, found.boots, found.warm_ups, found.checkpoint_bytes) == (2, 0, 0, 0)


def test_runs_of_several_boots_wait_for_their_boot(empty: Path) -> None:
    found = estimate(plans([1], ["a", "b", "c"]), 1, NO_RUNS)
    assert found.boots == 3 and found.wall_s == pytest.approx(found.core_s)


def test_lines_name_counts_instructions_time_and_disk(empty: Path) -> None:
    assert estimate(plans([1, 2, 3]), 2, NO_RUNS).lines() == [
        "estimate: 3 runs to do, 0 complete; 1 boot and 3 warm-ups",
        "  instructions  12.3 G (warm-ups 3.3 G, measured regions 9.0 G)",
        "  time          about 6 min with 2 guests in parallel, 8 min of one core (55 MIPS, documented speed, no "
        "former run)",
        "  disk          at most 2.2 GB of checkpoints, 14 MB of results",
    ]


def test_former_runs_are_read_from_the_folders_of_live_runs(empty: Path, made_runs: Path) -> None:
    runs = empty / "results" / "runs"
    shutil.copytree(made_runs, runs)
    shutil.copytree(made_runs / "imapb-1", runs / "replay-imapb-1")
    (runs / "imapb-2" / "stats.json").unlink()
    found = former_runs()
    (scale,) = found.mips
    assert {pair[0]: len(lengths) for pair, lengths in found.lengths.items()} == {"imapb": 2, "imape": 3}
    assert len(found.mips[scale]) == 5


def free_disk(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free))


def test_too_little_disk_is_refused_with_both_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free_disk(monkeypatch, 2 * GIB - 1)
    with pytest.raises(UserError, match=r"2.1 GB of disk are needed, but 2.1 GB are free: remove old"):
        require(Need(2 * GIB, 0), tmp_path)


def test_just_enough_disk_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free_disk(monkeypatch, 2 * GIB)
    require(Need(2 * GIB, 0), tmp_path)


def test_too_little_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"1000000.0 GiB of memory are needed, but .* run fewer guests in parallel"):
        require(Need(0, 1_000_000 * GIB), tmp_path)


def test_available_memory_is_that_of_meminfo(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 99 kB\nMemFree: 1 kB\nMemAvailable: 42 kB\n")
    assert available_memory(tmp_path / "meminfo") == 42 * 1024


def test_checkpoint_estimate_lies_between_mail_store_and_ram() -> None:
    for name in ("tiny", "small", "paper"):
        scale = load_scale(name)
        assert scale.store_bytes() < checkpoint_bytes(scale) <= scale.ram
