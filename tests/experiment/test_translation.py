# SPDX-License-Identifier: GPL-2.0-or-later
"""Page walks of the real guest: its own page tables, and the hashed table of the paper's machine. A guest in which the
load generator has a processor for itself: the server is never there, nor it on the server's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.experiment.short_region import short_region
from tests.lab import Lab

from s80lab.base.progress import Board
from s80lab.commands.pipeline import make_plans, on_board
from s80lab.experiment import checkpoint
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.plan import Options, Plan
from s80lab.experiment.ready import build_ready
from s80lab.results.run_folder import RunFolder
from s80lab.results.snapshots import Delta

pytestmark = pytest.mark.guest

MEASURE, INTERVAL = 120_000_000, 20_000_000


def measured(lab: Lab, walks: str, folder: Path) -> Delta:
    """A short region from the ready checkpoint, with cold caches."""
    with lab.entered():
        (plan,) = make_plans(["imapb"], Options(scale="tiny", seeds=[1], settings={"translation.walks": walks}))
        ready = checkpoint.find(plan.keys.ready.name, plan.keys.ready.key)
        assert ready is not None, "the guest does not see how the model translates"
        return short_region(plan, ready, folder, MEASURE, INTERVAL)


def test_hashed_page_table_has_fewer_walk_accesses_and_more_misses(whole: Lab, tmp_path: Path) -> None:
    x86, hashed = (measured(whole, name, tmp_path / name) for name in ("x86", "hashed"))

    def walks(region: Delta, what: str) -> float:
        return region.total(what, kind="walk") / region.instructions

    # Four levels or one group; a TLB that is emptied at each change of the address space or not.
    assert 0 < walks(hashed, "accesses") < walks(x86, "accesses") / 3
    # Neighbouring pages share the lines of their page tables, and no group.
    miss_rates = [walks(region, "l1_misses") / walks(region, "accesses") for region in (x86, hashed)]
    assert miss_rates[1] > 2 * miss_rates[0]


PINNED_MEASURE, PINNED_INTERVAL = 60_000_000, 10_000_000


def ready_guest(plan: Plan) -> Checkpoint:
    built: list[Checkpoint] = []

    async def build(board: Board) -> None:
        built.append(await build_ready(plan, asyncio.Semaphore(1), board.job(plan.keys.ready.name)))

    on_board(build)
    return built[0]


def test_load_generator_and_server_run_on_separate_processors(lab: Lab, tmp_path: Path) -> None:
    with lab.entered():
        plans = make_plans(["webstone"], Options(scale="tiny", seeds=[1]))
        (plan,) = (one for one in plans if one.varied["server"] == "nginx" and one.varied["clients"] == "4")
        region = short_region(plan, ready_guest(plan), tmp_path / "run", PINNED_MEASURE, PINNED_INTERVAL)
    classes = region.header.labels["class"]
    servers, clients = region.by("instructions", "core", "class").tolist()
    assert servers[classes.index("session")] > clients[classes.index("session")] == 0
    # It visits the server's processor to set its timer.
    assert clients[classes.index("loadgen")] > 100 * servers[classes.index("loadgen")]
    result = RunFolder(tmp_path / "run").transactions
    assert result["transactions"]["FILE"]["count"] > 50
    assert (sum(result["errors"].values()), result["first_error"]) == (0, "")
