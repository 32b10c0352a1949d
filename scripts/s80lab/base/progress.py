# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of concurrent jobs: one live line per job on a terminal; otherwise, a line per stage and every 30 s.

A live line begins with the bar and the remaining time, and fits into the width of the terminal:
`[######....]  62%    0:15 left  imapb seed 1, warm-up, 4.3 G, 52 MIPS`. The last line is about the whole command:
`3 of 6 runs, about 14 min left`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from s80lab.base.terminal import plain, wrapped

EVERY_S = 30.0
TICK_S = 1.0
BAR = 10
# The longest that fits is `120:05 left`, or `up to 12:05`.
LEFT = 11
SHORTEST_NAME = 14
WAITING = "waiting for another process"
"""The stage of a job whose work another process of s80lab does at this moment."""

Clock = Callable[[], float]


class Job:
    """The progress line of one job, for example of a run: its name, its present stage, and how far the stage is."""

    def __init__(self, board: Board, name: str) -> None:
        self.name = name
        self.stage = ""
        self._board = board
        self._began = self._printed = 0.0
        self._share: float | None = None
        self._left: float | None = None
        self._at_most = False
        self._details: tuple[str, ...] = ()
        board.add(self)

    def update(
        self,
        stage: str,
        done: float = 0,
        total: float = 0,
        mips: float | None = None,
        *,
        details: Sequence[str] = (),
        left_s: float | None = None,
        at_most: bool = False,
    ) -> None:
        """Show the state of the job.

        stage: what the job does now; the same text as long as the stage lasts.
        done, total: progress of the stage in any unit; total = 0 if unknown.
        mips: speed in million instructions per second.
        details: more about the stage, the most important first.
        left_s: remaining seconds; None: estimated from the progress of the stage.
        at_most: `total` is a limit: the stage may end before it.
        """
        with self._board.lock:
            now = self._board.now()
            fresh = stage != self.stage
            if fresh:
                self.stage, self._began = stage, now
            share = self._share = min(1.0, done / total) if total else None
            if left_s is None and share and share < 1:
                left_s = (now - self._began) * (1 - share) / share
            self._left = left_s
            self._at_most = at_most
            self._details = (*details, f"{mips:.0f} MIPS") if mips else tuple(details)
            self.log(fresh)

    def log(self, fresh: bool = False) -> None:
        """Print the state if there is no terminal, the job has a stage, and the stage is fresh or a line is due."""
        now = self._board.now()
        if self._board.live or not self.stage or not (fresh or now - self._printed >= EVERY_S):
            return
        self._printed = now
        share = [] if self._share is None else [f"{100 * self._share:.0f}%"]
        time_left = [] if fresh and self._left is None else [self._time()]
        state = ", ".join([*share, *time_left, *self._details])
        self._board.say(f"{self.name}, {self.stage}{f': {state}' if state else ''}")

    def line(self, width: int) -> str:
        """The live line: bar and time first, then name and stage, then each detail that still fits."""
        full = round(BAR * (self._share or 0.0))
        percent = "" if self._share is None else f"{100 * self._share:.0f}%"
        head = f"[{'#' * full}{'.' * (BAR - full)}] {percent:>4}  {self._time():>{LEFT}}  "
        room = max(width - len(head), 0)
        # A name of fewer characters says nothing; then the stage is shortened, too.
        name = shorten(self.name, max(room - len(self.stage) - 2, SHORTEST_NAME))
        text = shorten(f"{name}, {self.stage}", room)
        for detail in self._details:
            if len(text) + len(detail) + 2 <= room:
                text += f", {detail}"
        return (head + text)[:width]

    def say(self, text: str) -> None:
        """Print a remark that stays; the progress line continues."""
        self._board.say(f"{self.name}: {text}")

    def done(self, text: str) -> None:
        """End the progress line and print a remark that stays."""
        self._board.remove(self)
        self.say(text)

    def drop(self) -> None:
        """End the progress line without a remark."""
        self._board.remove(self)

    def _time(self) -> str:
        """The remaining time of the stage if it is known, else the time since the stage began."""
        if self._left is not None:
            return f"up to {clock(self._left)}" if self._at_most else f"{clock(self._left)} left"
        return f"{clock(self._board.now() - self._began)} so far"


class Tally:
    """The last line: how many pieces of work are finished, and how long the others will take.

    board: the progress lines.
    noun: what the pieces are, in the plural.
    costs: the expected seconds of each piece. Finished pieces correct the expectation of the others.
    at_once: number of pieces that run in parallel.
    expected: whether the costs are seconds. If not, they are relative, and the first estimate appears when a piece is
        finished.
    first: by name, the expected seconds of work that comes before pieces and is not counted, such as a boot.
    """

    def __init__(
        self,
        board: Board,
        noun: str,
        costs: Sequence[float],
        at_once: int = 1,
        *,
        expected: bool = True,
        first: Mapping[str, float] | None = None,
    ) -> None:
        self._board = board
        self._noun = noun
        self._all = len(costs)
        self._waiting = list(costs)
        self._running: list[tuple[float, float]] = []
        self._at_once = at_once
        self._expected = expected
        self._finished = 0
        self._cost = self._seconds = 0.0
        self._first = dict(first or {})
        self._first_began: dict[str, float] = {}
        if costs:
            board.show_tally(self)

    @contextmanager
    def piece(self, cost: float) -> Iterator[None]:
        """Work on one piece; it is finished if the block ends without an exception. cost: one of the costs."""
        began = self._board.now()
        self._waiting.remove(cost)
        self._running.append((began, cost))
        try:
            yield
        finally:
            self._running.remove((began, cost))
        self._finished += 1
        self._cost += cost
        self._seconds += self._board.now() - began
        if self._finished < self._all and not self._board.live:
            self._board.say(self.line())

    @contextmanager
    def before(self, name: str) -> Iterator[None]:
        """Do work that precedes pieces. name: one of `first`, or any other text."""
        self._first_began[name] = self._board.now()
        try:
            yield
        finally:
            self.drop(name)

    def drop(self, name: str) -> None:
        """Expect no time for this work any more: it is done, or was done before."""
        self._first.pop(name, None)

    def line(self) -> str:
        """For example `3 of 6 runs, about 14 min left`."""
        left = self._left()
        return f"{self._finished} of {self._all} {self._noun}" + (f", {about(left)} left" if left else "")

    def _left(self) -> float | None:
        """Remaining seconds; None if unknown. Pieces that run in parallel last as long as the longest, at least, and a
        piece waits for the work that precedes it."""
        if not self._finished and not self._expected:
            return None
        factor = self._seconds / self._cost if self._cost else 1.0
        now = self._board.now()
        rest = [factor * cost for cost in self._waiting]
        rest += [max(factor * cost - (now - began), 0.0) for began, cost in self._running]
        first = [max(cost - (now - self._first_began.get(name, now)), 0.0) for name, cost in self._first.items()]
        return max(sum(first + rest) / self._at_once, max(first, default=0.0) + max(rest, default=0.0))


class Board:
    """The progress lines of all jobs; a context manager. now: the clock, in seconds."""

    def __init__(self, console: Console, now: Clock = time.monotonic) -> None:
        self.console = console
        self.live = console.is_terminal and not console.is_dumb_terminal
        self.now = now
        self.lock = threading.RLock()
        self._began = now()
        self._jobs: list[Job] = []
        self._tally: Tally | None = None
        self._ended = threading.Event()
        self._display = Live(get_renderable=self._render, console=console, transient=True)

    def __enter__(self) -> Self:
        if self.live:
            self._display.start()
        else:
            threading.Thread(target=self._tick, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self.live:
            self._display.stop()

    def job(self, name: str) -> Job:
        return Job(self, name)

    def say(self, text: str) -> None:
        """Print a remark that stays, with the time since the start. A terminal gets lines of its width."""
        head = f"[{clock(self.now() - self._began)}] "
        line = wrapped(head + plain(text), self.console.width if self.live else None, indent=len(head))
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def add(self, job: Job) -> None:
        """Show a job from its first stage on."""
        with self.lock:
            self._jobs.append(job)

    def remove(self, job: Job) -> None:
        """Show a job no longer."""
        with self.lock:
            self._jobs = [one for one in self._jobs if one is not job]

    def show_tally(self, tally: Tally) -> None:
        """Show the line about the whole command: last on a terminal, otherwise now and after each piece."""
        self._tally = tally
        if not self.live:
            self.say(tally.line())

    def log(self) -> None:
        """Without a terminal: print the line of each job whose last line is 30 s old."""
        with self.lock:
            for job in self._jobs:
                job.log()

    def lines(self, width: int, height: int) -> list[str]:
        """The live lines: the jobs that fit into the height, and the line about the whole command."""
        with self.lock:
            jobs = [job for job in self._jobs if job.stage]
            last = [self._tally.line()[:width]] if self._tally else []
        room = max(height - len(last), 1)
        more = [f"... {len(jobs) - room + 1} more"] if len(jobs) > room else []
        return [*(job.line(width) for job in jobs[: room - len(more)]), *more, *last]

    def _render(self) -> Text:
        return Text("\n".join(self.lines(self.console.width, self.console.height - 1)), no_wrap=True)

    def _tick(self) -> None:
        while not self._ended.wait(TICK_S):
            self.log()


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds, for example `1:05`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


def instructions_text(count: float) -> str:
    """A number of instructions: `30 M instructions`, `4.3 G instructions`."""
    return f"{count / 1e6:.0f} M instructions" if count < 1e9 else f"{count / 1e9:.1f} G instructions"


def about(seconds: float) -> str:
    """A rough duration: `about 40 s`, `about 14 min`, `about 2.5 h`."""
    return f"about {rough(seconds)}"


def rough(seconds: float) -> str:
    """A duration of 10 s or more with one unit: `40 s`, `14 min`, `2.5 h`."""
    if seconds < 90:
        return f"{max(10, 10 * round(seconds / 10))} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def shorten(text: str, width: int) -> str:
    """The text in at most `width` characters; a longer text loses its middle."""
    if len(text) <= width:
        return text
    if width < 5:
        return text[:width]
    head = (width - 2) // 2
    return f"{text[:head]}...{text[len(text) - (width - 3 - head) :]}"
