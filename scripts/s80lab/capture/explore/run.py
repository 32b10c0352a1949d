# SPDX-License-Identifier: GPL-2.0-or-later
"""Replay of a grid of designs on all host cores; existing replays are kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.progress import Board, Job
from s80lab.base.staging import tidy
from s80lab.base.terminal import counted
from s80lab.capture.design import Design
from s80lab.capture.explore.watch import clear_failure, record_failure
from s80lab.capture.replay import replay, run_folder
from s80lab.capture.store import Capture
from s80lab.experiment import resources
from s80lab.results.products import is_whole
from s80lab.trace.tool import capture_info

MIB = 1 << 20
# A replay's memory: four bytes for each line of the guest's memory, the tags of all caches, an epoch, the decompressor.
REPLAY_MEMORY = 512 * MIB


# Events a second of one core: 17 to 21 M of a filtered capture, 39 to 53 M of a full one were measured
# (docs/guides/captures.md). What a replay takes beside them: statistics and conservation checks.
SLOWEST_REPLAY = 15_000_000
START_S = 2.0


def replay_cost(capture: Capture) -> resources.Cost:
    """Cost of replaying this capture through one design."""
    return resources.Cost(START_S + capture_info(capture.path)["events"] / SLOWEST_REPLAY, REPLAY_MEMORY)


async def explore(
    capture: Capture,
    designs: Sequence[Design],
    board: Board,
    jobs: int = 0,
    again: bool = False,
    enter: bool = True,
    keep_going: bool = False,
) -> list[Path]:
    """Replay the designs and return the folders in the order of the designs.

    jobs: processes at once; 0: one per host core, as far as memory allows. enter: enter the rows into
    the database. keep_going: record a replay that fails (watch.py) and continue with the others; UserError follows
    when these are complete.
    """
    tidy(board.say, paths.runs())
    folders = [run_folder(capture, design) for design in designs]
    unique = dict(zip(folders, designs, strict=True))
    missing = {folder for folder in unique if again or not is_whole(folder)}
    at_once = _at_once(jobs)
    board.say(
        f"{counted(len(designs), 'design')}, {len(unique) - len(missing)} of them replayed already; replays in "
        f"parallel: {at_once}"
    )
    whole = Whole(board.job(capture.name), len(missing))
    slots = asyncio.Semaphore(at_once)
    failures: list[str] = []

    async def one(folder: Path, design: Design) -> None:
        if folder not in missing:
            await replay(capture, design, lambda done, total: None, enter=enter)
            return
        async with slots:
            await replay(
                capture,
                design,
                lambda done, total: whole.moved(folder, done, total),
                again=again,
                alone=len(missing) == 1,
                enter=enter,
                say=board.say,
            )
            whole.finished(folder)

    async def guarded(folder: Path, design: Design) -> None:
        try:
            await one(folder, design)
        except* UserError as group:
            if not keep_going:
                raise
            reason = _first(group)
            record_failure(folder.name, design.label, reason)
            if reason not in failures:
                board.say(f"{design.label} failed: {reason}")
            failures.append(reason)
        else:
            clear_failure(folder.name)

    async with asyncio.TaskGroup() as group:
        for folder, design in unique.items():
            group.create_task(guarded(folder, design))
    whole.end(len(failures))
    if failures:
        raise UserError(
            f"{len(failures)} of {counted(len(unique), 'design')} failed, the others are complete; the first failure: "
            f"{failures[0]}"
        )
    return folders


def _first(error: BaseException) -> str:
    """The first message of an exception group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)


class Whole:
    """Progress of all replays on one line: finished designs, share of the instructions, total MIPS, remaining time."""

    def __init__(self, job: Job, points: int) -> None:
        self._job = job
        self._points = points
        self._began = time.monotonic()
        self._done: dict[Path, int] = {}
        self._length = 0
        self._finished = 0

    def moved(self, point: Path, done: int, total: int) -> None:
        """Record that the replay of a design has played `done` of `total` instructions."""
        self._done[point] = done
        self._length = max(self._length, total)
        self._show()

    def finished(self, point: Path) -> None:
        """Record that the replay of a design is complete."""
        self._done[point] = self._length
        self._finished += 1
        self._show()

    def end(self, failed: int = 0) -> None:
        """End the progress line. failed: number of replays that failed."""
        seconds = time.monotonic() - self._began
        played = sum(self._done.values())
        speed = f", {played / seconds / 1e6:.0f} MIPS in total" if played else ""
        self._job.done(
            f"{self._points - failed} replayed in {seconds:.0f} s{speed}"
            if self._points
            else "all designs were replayed before"
        )

    def _show(self) -> None:
        played = sum(self._done.values())
        mips = played / (time.monotonic() - self._began) / 1e6
        finished = f"{self._finished} of {self._points} replays"
        self._job.update("replaying", played, self._length * self._points, mips, details=[finished])


def _at_once(jobs: int) -> int:
    """Number of replays that run in parallel. Raises UserError if the memory is too small for one replay."""
    room = resources.available_memory() // REPLAY_MEMORY
    if room < 1:
        raise UserError(
            f"the host has too little free memory: a replay needs {REPLAY_MEMORY // MIB} MiB; end other programs"
        )
    return max(1, min(jobs or host.cores(), room))
