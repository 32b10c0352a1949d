# SPDX-License-Identifier: GPL-2.0-or-later
"""All stages of several experiments, in the order that keeps every host core busy: the ready checkpoint once, then
each seed's warm-up and, in the same breath, its measured run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from s80lab.base import host, paths
from s80lab.base.progress import Board
from s80lab.base.staging import tidy
from s80lab.experiment import checkpoint, resources
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.plan import Plan, missing
from s80lab.experiment.ready import build_ready
from s80lab.experiment.run import measure, measured
from s80lab.experiment.warm import build_warm
from s80lab.results.database import insert_run

Until = Literal["ready", "warm", "run"]


class Pipeline:
    """jobs: guests at once (0: one for each host core). again: measure anew what is there already. drop: remove each
    warm checkpoint once its run is whole, so that no more of them lie on the disk than guests run at once. enter: the
    runs' rows into the database."""

    def __init__(
        self, board: Board, jobs: int = 0, again: bool = False, drop: bool = False, enter: bool = True
    ) -> None:
        self._board = board
        self._jobs = jobs or host.cores()
        self._slots = asyncio.Semaphore(self._jobs)
        self._again = again
        self._drop = drop
        self._enter = enter
        self._ready: dict[str, asyncio.Task[Checkpoint]] = {}

    async def go(self, plans: Sequence[Plan], until: Until = "run") -> list[Path]:
        """Runs the experiments up to a stage; the folders of all measured runs (none before the last stage)."""
        tidy(self._board.say, paths.checkpoints(), paths.runs())
        whole = [None if until != "run" or self._again else measured(plan) for plan in plans]
        self._to_database(whole)
        lacking = [plan for plan, folder in zip(plans, whole, strict=True) if folder is None]
        if lacking:
            self._check_needs(lacking, until)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._seed(plan, until, group)) for plan in lacking]
        fresh = iter(tasks)
        folders = [folder or next(fresh).result() for folder in whole]
        return [folder for folder in folders if folder is not None]

    def _check_needs(self, plans: Sequence[Plan], until: Until) -> None:
        absent = missing(plans, ready_only=until == "ready")
        at_once = max(1, min(self._jobs, len(plans)))
        sizes = sorted((resources.checkpoint_bytes(plan.scale) for plan in absent.values()), reverse=True)
        kept = len({plan.ready_key for plan in plans}) + at_once if self._drop else len(sizes)
        needed = resources.Need(sum(sizes[:kept]), at_once * resources.RUN_MEMORY)
        self._board.say(f"needs {needed} ({len(absent)} checkpoints to build, {at_once} guests at once)")
        resources.require(needed, paths.checkpoints())

    async def _seed(self, plan: Plan, until: Until, group: asyncio.TaskGroup) -> Path | None:
        if plan.ready_key not in self._ready:
            self._ready[plan.ready_key] = group.create_task(self._build_ready(plan))
        ready = await self._ready[plan.ready_key]
        if until == "ready":
            return None
        # One slot for both: the run starts while its checkpoint is still in the host's memory.
        async with self._slots:
            warm = await self._build_warm(plan, ready)
            if until == "warm":
                return None
            folder = await self._measure(plan, warm)
        self._to_database([folder])
        if self._drop:
            checkpoint.drop(warm)
        return folder

    def _to_database(self, folders: Sequence[Path | None]) -> None:
        for folder in folders if self._enter else ():
            if folder is not None:
                insert_run(paths.database(), folder)

    async def _build_ready(self, plan: Plan) -> Checkpoint:
        job = self._board.job(plan.ready_name)
        built = await build_ready(plan, self._slots, job)
        job.done(f"ready ({built.disk_bytes() / 1e9:.1f} GB, built in {built.manifest.wall_s:.0f} s)")
        return built

    async def _build_warm(self, plan: Plan, ready: Checkpoint) -> Checkpoint:
        job = self._board.job(plan.warm_name)
        built = await build_warm(plan, ready, job)
        record = built.manifest.warmup
        assert record is not None
        job.done(
            f"{record.verdict} after {record.instructions / 1e9:.1f} G instructions "
            f"({record.mips:.0f} MIPS, built in {built.manifest.wall_s:.0f} s)"
        )
        return built

    async def _measure(self, plan: Plan, warm: Checkpoint) -> Path:
        point = f" at {plan.label}" if plan.varied else ""
        job = self._board.job(f"{plan.name}{point} seed {plan.seed}")
        folder = await measure(plan, warm, job)
        job.done(f"whole: {folder.name}")
        return folder
