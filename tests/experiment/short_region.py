# SPDX-License-Identifier: GPL-2.0-or-later
"""A region of a plan that is shorter than its phases say, from a checkpoint that is there; it keeps all laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from s80lab.base.progress import Board
from s80lab.commands.pipeline import on_board
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.plan import Plan
from s80lab.experiment.run import live
from s80lab.results.conservation import check_run
from s80lab.results.run_folder import RunFolder
from s80lab.results.snapshots import Delta, Snapshots


def short_region(
    plan: Plan,
    start: Checkpoint,
    folder: Path,
    measure: int,
    interval: int,
    plugin: Mapping[str, object] | None = None,
) -> Delta:
    """measure, interval: instructions. folder: new, for the run's files. plugin: further arguments of the plugin."""
    folder.mkdir()
    shorter = replace(plan, phases=plan.phases.model_copy(update={"measure": measure, "sampling_interval": interval}))

    async def run(board: Board) -> None:
        await live(shorter, start, folder, board.job("a short region"), plugin)

    on_board(run)
    check_run(RunFolder(folder))
    return Snapshots.read(folder / "snapshots.jsonl").region()
