# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of concurrent jobs: live bars on a terminal, otherwise a plain line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn

PLAIN_EVERY_S = 10.0
PLAIN_REPEAT_S = 60.0


class Job:
    """The progress line of one job."""

    def __init__(self, board: Board, name: str) -> None:
        self.name = name
        self._board = board
        self._stage = ""
        self._stage_began = time.monotonic()
        self._printed = -PLAIN_EVERY_S
        self._line = ""
        self._task: TaskID | None = board.add(name)

    def update(self, stage: str, done: float = 0, total: float = 0, mips: float | None = None) -> None:
        """Show the state of the job.

        stage: what the job does now.
        done, total: progress in any unit; total = 0 if unknown.
        mips: speed in million instructions per second.
        """
        now = time.monotonic()
        fresh = stage.split(" ")[0] != self._stage.split(" ")[0]
        if fresh:
            self._stage_began = now
        self._stage = stage
        share = min(1.0, done / total) if total else 0.0
        left = (now - self._stage_began) * (1 - share) / share if share > 0 else None
        parts = [f"{mips:.0f} MIPS"] if mips else []
        parts += [f"{clock(left)} left"] if left is not None and share < 1 else []
        detail = ", ".join(parts)
        if self._board.live:
            self._board.show(self._task, stage, share, bool(total), detail)
        elif fresh or now - self._printed >= PLAIN_EVERY_S:
            percent = f" {100 * share:.0f}%" if total else ""
            line = f"{self.name}: {stage}{percent}" + (f" ({detail})" if detail else "")
            if line != self._line or now - self._printed >= PLAIN_REPEAT_S:
                self._line, self._printed = line, now
                self._board.say(line)

    def done(self, text: str) -> None:
        """End the progress line and print a remark that stays."""
        self._board.remove(self._task)
        self._board.say(f"{self.name}: {text}")

    def drop(self) -> None:
        """End the progress line without a remark."""
        self._board.remove(self._task)


class Tally:
    """Counts finished pieces of work and estimates the remaining time from their costs.

    The estimate assumes that time is proportional to cost (in any unit). The estimate appears when twice as many pieces
    are finished as run in parallel. A single piece prints nothing.
    """

    def __init__(self, board: Board, what: str, costs: Sequence[float], at_once: int = 1) -> None:
        self._board = board
        self._what = what
        self._telling = 2 * at_once
        self._jobs = len(costs)
        self._cost = sum(costs)
        self._over = 0
        self._paid = 0.0
        self._began = time.monotonic()

    def over(self, cost: float) -> None:
        """Count one more finished job. cost: the cost of this job."""
        self._over += 1
        self._paid += cost
        left = (time.monotonic() - self._began) * (self._cost - self._paid) / self._paid
        if self._over < self._jobs:
            told = f", about {clock(left)} left" if self._over >= self._telling else ""
            self._board.say(f"{self._over} of {self._jobs} {self._what}{told}")


class Board:
    """The progress lines of all jobs; a context manager."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = console.is_terminal
        self._began = time.monotonic()
        self._bars = Progress(
            TextColumn("{task.fields[job]}"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("{task.fields[detail]}"),
            console=console,
            transient=True,
            disable=not self.live,
        )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def job(self, name: str) -> Job:
        return Job(self, name)

    def say(self, text: str) -> None:
        """Print a line that stays, with the time since the start."""
        self.console.print(
            f"[{clock(time.monotonic() - self._began)}] {text}", markup=False, highlight=False, soft_wrap=True
        )

    def add(self, name: str) -> TaskID | None:
        return self._bars.add_task("", total=None, job=name, detail="") if self.live else None

    def show(self, task: TaskID | None, stage: str, share: float, known: bool, detail: str) -> None:
        if task is not None:
            total = 1.0 if known else None
            self._bars.update(task, description=stage, completed=share, total=total, detail=detail)

    def remove(self, task: TaskID | None) -> None:
        if task is not None and task in self._bars.task_ids:
            self._bars.remove_task(task)


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds, for example `1:05`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
