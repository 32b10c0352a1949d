# SPDX-License-Identifier: GPL-2.0-or-later
"""The user's own gem5, where there is one: the first instructions of the kernel under Timing and Ruby, in intervals."""

from __future__ import annotations

import asyncio
from io import StringIO
from pathlib import Path

from rich.console import Console
from tests.lab import Lab

from s80lab.base.progress import Board
from s80lab.experiment.plan import Options
from s80lab.gem5 import binary
from s80lab.gem5.plan import gem5_plans
from s80lab.gem5.process import simulate
from s80lab.gem5.snapshots import write_snapshots
from s80lab.gem5.stages import stage_arguments
from s80lab.gem5.stats import read_dumps
from s80lab.gem5.table import CACHE
from s80lab.guest.kernel.facts import load_kernel
from s80lab.results.conservation import check_snapshots
from s80lab.results.snapshots import Snapshots

INTERVAL, INTERVALS = 200_000, 2
# How often each function is called meanwhile, by the one processor that is up.
CALLED = {"x86_64_start_kernel": 1, "start_secondary": 0}


def boot(gem5: Path, folder: Path, **settings: object) -> tuple[Snapshots, int]:
    """The intervals of a boot on s80-sixteenth with settings over it, and the blocks that the directory took back."""
    named = {key.replace("_", ".", 1): value for key, value in settings.items()}
    (plan,) = gem5_plans("imapb", Options(machine="s80-sixteenth", settings=named))(gem5)
    arguments = stage_arguments(plan, folder, plan.login_job()) | {"interval": INTERVAL, "intervals": INTERVALS}
    symbols = load_kernel(plan.image).symbols
    arguments["calls"] = ",".join(f"{name}={symbols.address(name):#x}" for name in CALLED)
    out = folder / "gem5"

    async def measure() -> None:
        with Board(Console(file=StringIO())) as board:
            await simulate(gem5, "measure", arguments, out, board.job("boot"), INTERVAL * INTERVALS)

    asyncio.run(measure())
    write_snapshots(out, plan.machine, INTERVAL, folder / "snapshots.jsonl")
    taken = sum(
        int(row[0])
        for dump in read_dumps(out / "stats.txt")
        for row in dump.matching(f"({CACHE.replace('.', '[.]')}Invalidate)").values()
    )
    return Snapshots.read(folder / "snapshots.jsonl"), taken


def test_user_gem5_has_all_features(gem5: Path) -> None:
    binary.require(gem5, x86=True)


def test_live_gem5_boot_gives_consistent_intervals(lab: Lab, gem5: Path, tmp_path: Path) -> None:
    snapshots, taken = boot(gem5, tmp_path)
    assert {"sources_sum_to_misses", "fills_sum_to_misses"} < set(check_snapshots(snapshots))
    assert [interval.instructions >= INTERVAL for interval in snapshots.intervals()] == [True] * INTERVALS
    assert snapshots.whole().guest == CALLED
    assert snapshots.whole().total("l2_misses") > 0 and taken == 0


def test_live_gem5_probe_filter_invalidates_blocks(lab: Lab, gem5: Path, tmp_path: Path) -> None:
    """A filter for a quarter of what one L2 holds: blocks whose entries leave it leave the caches."""
    filtered, taken = boot(gem5, tmp_path, ruby_probe_filter="128KiB")
    check_snapshots(filtered)
    assert filtered.whole().total("l2_invalidations") > 0 and taken > 0
