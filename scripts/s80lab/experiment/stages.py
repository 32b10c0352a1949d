# SPDX-License-Identifier: GPL-2.0-or-later
"""The pipeline of all stages of several experiments, ordered so that every host core is busy.

Each ready checkpoint is built once. Then each seed's warm-up is followed at once by its measured run. Only a few points
of a sweep are in progress at a time. The first runs are then complete early, and few checkpoints take disk space.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Container, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.progress import Board, Tally, instructions_text
from s80lab.base.staging import tidy
from s80lab.base.terminal import counted, disk_size
from s80lab.experiment import checkpoint, resources
from s80lab.experiment.checkpoint import Checkpoint
from s80lab.experiment.entries import title
from s80lab.experiment.host_inputs import unused
from s80lab.experiment.plan import Plan, Until, missing, missing_ready, missing_warm
from s80lab.experiment.ready import boot_cost, build_ready
from s80lab.experiment.run import measure, measured
from s80lab.experiment.warm import build_warm
from s80lab.guest.plugin import check_plugin
from s80lab.results.database import insert_run
from s80lab.results.run_folder import RunFolder

Drop = Literal["nothing", "warm", "built"]


class Pipeline:
    """Builds the ready and warm checkpoints of plans, and measures their runs.

    board: the progress lines.
    jobs: number of guests that run at once; 0: one per host core.
    again: measure again what has been measured already.
    drop: the checkpoints that are removed when the runs that need them are complete: `warm` removes each warm
        checkpoint, `built` removes each warm and each ready checkpoint that was built here.
    enter: whether runs are entered into the database.
    """

    def __init__(
        self, board: Board, jobs: int = 0, again: bool = False, drop: Drop = "nothing", enter: bool = True
    ) -> None:
        self._board = board
        self._jobs = jobs or host.cores()
        self._slots = asyncio.Semaphore(self._jobs)
        self._again = again
        self._drop = drop
        self._enter = enter
        self._points = asyncio.Semaphore(self._jobs + 1)  # one is built while the guests of others run
        self._tally = Tally(board, "", [])
        self._several = False  # ready checkpoints

    async def go(self, plans: Sequence[Plan], until: Until = "run") -> list[RunFolder]:
        """Take the plans to a stage; return all measured runs (none before the stage `run`)."""
        tidy(self._board.say, paths.checkpoints(), paths.runs())
        folders = [None if until != "run" or self._again else measured(plan) for plan in plans]
        whole = [None if folder is None else RunFolder(folder) for folder in folders]
        for run in filter(None, whole):
            self._to_database(run)
            if short := _short_of_a_result(run):
                self._board.say(f"{run.path.name}: this run exists already{short}")
        lacking = [plan for plan, run in zip(plans, whole, strict=True) if run is None]
        if lacking:
            self._check_needs(lacking, until)
            for why in unused(lacking, until):
                self._board.say(why)
            if until != "ready":
                await asyncio.to_thread(check_plugin, lacking[0].plugin, lacking[0].qemu)
        if until != "ready":
            noun = "runs" if until == "run" else "warm-ups"
            boots = missing_ready(lacking)
            first = {name: boot_cost(plan) for name, plan in boots.items()}
            self._tally = Tally(self._board, noun, [_cost(plan) for plan in lacking], self._jobs, first=first)
        points: dict[str, list[Plan]] = {}
        for plan in lacking:
            points.setdefault(plan.keys.ready.key, []).append(plan)
        self._several = len(points) > 1
        fresh = await self._points_of(points, until)
        runs = [run or next(fresh[plan.keys.ready.key]) for plan, run in zip(plans, whole, strict=True)]
        return [run for run in runs if run is not None]

    async def _points_of(
        self, points: Mapping[str, Sequence[Plan]], until: Until
    ) -> dict[str, Iterator[RunFolder | None]]:
        """The runs of each point's plans. If one of several points fails, the error follows when the other points
        are complete."""
        if len(points) == 1:
            return {key: iter(await self._point(of_point, until)) for key, of_point in points.items()}
        failures: list[Exception] = []
        async with asyncio.TaskGroup() as group:
            tasks = {key: group.create_task(self._apart(of_point, until, failures)) for key, of_point in points.items()}
        if failures:
            rest = (
                f"the runs from {len(failures)} of {len(points)} ready checkpoints failed, all other runs are "
                "complete: repeat the command"
            )
            raise ExceptionGroup("points that failed", [*failures, UserError(rest)])
        return {key: iter(task.result()) for key, task in tasks.items()}

    def _check_needs(self, plans: Sequence[Plan], until: Until) -> None:
        absent = missing(plans, until)
        ready = _sizes(missing_ready(plans, until))
        warm = _sizes(absent, but=ready)
        at_once = max(1, min(self._jobs, len(plans)))
        disk = sum(sorted(ready.values(), reverse=True)[: self._jobs + 1 if self._drop == "built" else None])
        disk += sum(sorted(warm.values(), reverse=True)[: at_once if self._drop != "nothing" else None])
        needed = resources.Need(disk, at_once * resources.RUN_MEMORY)
        self._board.say(
            f"this command needs {needed} ({counted(len(absent), 'checkpoint')} to build, {counted(at_once, 'guest')} "
            "in parallel)"
        )
        resources.require(needed, paths.checkpoints())

    async def _apart(self, plans: Sequence[Plan], until: Until, failures: list[Exception]) -> list[RunFolder | None]:
        """Like `_point`, but an error is added to `failures` and does not stop the other points."""
        try:
            return await self._point(plans, until)
        except* UserError as group:
            failures.append(group)
            self._board.say(
                f"{plans[0].keys.ready.name}: a run from this ready checkpoint failed; runs from other ready "
                "checkpoints continue"
            )
        return []

    async def _point(self, plans: Sequence[Plan], until: Until) -> list[RunFolder | None]:
        """The runs of the plans of one ready checkpoint, which is built only if a plan needs it."""
        async with self._points:
            if until == "ready":
                await self._build_ready(plans[0])
                return [None for _ in plans]
            built = bool(missing_ready(plans))
            cold = missing_warm(plans)
            async with asyncio.TaskGroup() as group:
                # The runs with a warm checkpoint do not wait for the boot.
                begun = [
                    None if plan.keys.warm.name in cold else group.create_task(self._seed(plan, None, until))
                    for plan in plans
                ]
                ready = await self._build_ready(plans[0]) if cold else None
                tasks = [
                    task or group.create_task(self._seed(plan, ready, until))
                    for plan, task in zip(plans, begun, strict=True)
                ]
            if ready and built and self._drop == "built":
                checkpoint.drop(ready)
        return [task.result() for task in tasks]

    async def _seed(self, plan: Plan, ready: Checkpoint | None, until: Until) -> RunFolder | None:
        # One slot for both: the run starts while its checkpoint is still in the host's memory.
        async with self._slots:
            built = not checkpoint.exists(plan.keys.warm.name, plan.keys.warm.key)
            with self._tally.piece(_cost(plan)):
                warm = await self._build_warm(plan, ready)
                if until == "warm":
                    return None
                run = await self._measure(plan, warm)
        self._to_database(run)
        if self._drop == "warm" or (self._drop == "built" and built):
            checkpoint.drop(warm)
        return run

    def _to_database(self, run: RunFolder) -> None:
        if self._enter:
            insert_run(paths.database(), run)

    async def _build_ready(self, plan: Plan) -> Checkpoint:
        point = f" at {plan.label}" if self._several and plan.varied else ""
        point += f", boot {plan.boot_number}" if plan.boot_number > 1 else ""
        job = self._board.job(f"scale {plan.scale_name}{point}")
        there = checkpoint.exists(plan.keys.ready.name, plan.keys.ready.key)
        built = await build_ready(plan, self._boot_slot(plan), job)
        self._tally.drop(plan.keys.ready.name)
        size, seconds = disk_size(built.disk_bytes()), built.manifest.wall_s
        job.done(
            f"{plan.keys.ready.name} {'exists already' if there else 'is complete'} ({size}, built in {seconds:.0f} s)"
        )
        return built

    @asynccontextmanager
    async def _boot_slot(self, plan: Plan) -> AsyncIterator[None]:
        """A slot for a boot, whose time the last progress line takes into account."""
        async with self._slots:
            with self._tally.before(plan.keys.ready.name):
                yield

    async def _build_warm(self, plan: Plan, ready: Checkpoint | None) -> Checkpoint:
        job = self._board.job(_name(plan))
        there = checkpoint.exists(plan.keys.warm.name, plan.keys.warm.key)
        built = await build_warm(plan, ready, job)
        record = built.manifest.warmup
        assert record is not None
        steady = "steady state" if record.verdict == "steady" else "no steady state"
        job.done(
            f"{plan.keys.warm.name} {'exists already' if there else 'is complete'} ({steady} after "
            f"{instructions_text(record.instructions)}, {record.mips:.0f} MIPS, built in {built.manifest.wall_s:.0f} s)"
        )
        return built

    async def _measure(self, plan: Plan, warm: Checkpoint) -> RunFolder:
        job = self._board.job(_name(plan))
        run = RunFolder(await measure(plan, warm, job))
        job.done(f"complete: {run.path.name}{_short_of_a_result(run)}")
        return run


def _name(plan: Plan) -> str:
    """The run in progress lines: `imapb seed 1`; `imapb · mesi, seed 1` of another design than that in the experiment's
    file; `imapb at l2.size 1MiB, seed 1` of a point of the experiment's own sweep."""
    if plan.varied:
        return f"{plan.name} at {plan.label}, {plan.numbers}"
    return f"{plan.name} {plan.numbers}" if title(plan) == plan.name else f"{title(plan)}, {plan.numbers}"


def _cost(plan: Plan) -> float:
    return resources.typical_s(plan.phases)


def _short_of_a_result(run: RunFolder) -> str:
    """`, invalid: REASONS` for an invalid run, else an empty text."""
    return f", invalid: {'; '.join(run.reasons)}" if run.reasons else ""


def _sizes(checkpoints: Mapping[str, Plan], but: Container[str] = ()) -> dict[str, int]:
    """Estimated bytes of each checkpoint, by name. but: names to leave out."""
    return {name: resources.checkpoint_bytes(plan.scale) for name, plan in checkpoints.items() if name not in but}
