# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one simulation in the user's gem5: starts the process, watches it, and turns a failure into one sentence."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.follow import Follower, tail
from s80lab.base.host import out_of_memory_kills, resident_bytes
from s80lab.base.progress import Job
from s80lab.experiment.resources import GEM5_LIMIT
from s80lab.gem5.binary import complaint, log_text, read_facts
from s80lab.gem5.table import TICKS_PER_S
from s80lab.guest.console import STARTING, boot_stage, word
from s80lab.guest.process import dies_with_us

SCRIPT = paths.ROOT / "configs" / "gem5" / "mail_server.py"
CONSOLE = "board.pc.com_1.device"
LOG = "gem5.log"
POLL_S = 0.5
# gem5 says a line a second; loading a checkpoint of gigabytes comes before the first.
STALL_S = 900.0
# Modelled time without a word from the guest: many times what any stage needs, for a guest that idles for ever.
SILENCE_S = 60.0
Stage = Literal["boot", "warm", "measure"]
STAGES = {"warm": "warm-up", "measure": "measured region"}
"""The stages after the boot as progress lines name them."""


# What keeps a process of each stage below the limit of resident memory.
SMALLER = {
    "boot": "lower `segment` in the experiment's table [gem5]",
    "warm": "lower `settle` in the experiment's table [gem5]",
    "measure": "choose a machine with smaller caches or a smaller scale",
}


@dataclass
class Guest:
    """A guest that one process of gem5 simulates, or several, one after another. `simulate` updates it.

    instructions: number of instructions that earlier processes have simulated.
    printed: the last stage that the guest has printed.
    ticks: simulated time at which the guest has printed its last line; None before the first.
    resident_peak: the largest resident memory of a process, in bytes.
    resumed: where the next command continues if gem5 is killed, for the message; empty if it starts again.
    """

    instructions: int = 0
    printed: str = STARTING
    ticks: int | None = None
    resident_peak: int = 0
    resumed: str = ""
    pace: Pace | None = None


@dataclass(frozen=True)
class Pace:
    """The speed of a guest since the command has simulated its first instructions."""

    began: float
    instructions: int

    def per_s(self, instructions: int) -> float:
        """Instructions a second; 0 if unknown."""
        elapsed = time.monotonic() - self.began
        return (instructions - self.instructions) / elapsed if elapsed > 0 else 0.0


async def simulate(
    gem5: Path,
    stage: Stage,
    arguments: Mapping[str, object],
    out: Path,
    job: Job,
    instructions: int = 0,
    guest: Guest | None = None,
) -> dict[str, Any]:
    """Run mail_server.py and return its facts.

    instructions: the expected number of instructions of the guest, for the progress (0: unknown).
    guest: what earlier processes have simulated of this guest.
    """
    command = [str(gem5), "--outdir", str(out), str(SCRIPT), stage]
    for name, value in arguments.items():
        command += [f"--{name}", str(value)]
    out.mkdir(parents=True, exist_ok=True)
    guest = guest or Guest()
    watch = _Watch(stage, out, job, instructions, guest)
    with (out / LOG).open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *dies_with_us(),
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        await watch.until(process)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return read_facts(out / "facts.json")


class _Watch:
    """Follows the console, the script's progress file and the memory of the process."""

    def __init__(self, stage: Stage, out: Path, job: Job, instructions: int, guest: Guest) -> None:
        self._stage = stage
        self._out = out
        self._job = job
        self._total = instructions
        self._guest = guest
        self._console = Follower(out / CONSOLE)
        self._progress = Follower(out / "progress.jsonl")
        self._before = guest.instructions
        self._done = guest.instructions
        self._first: Pace | None = None
        self._resident = 0
        self._killed = out_of_memory_kills()
        # Whether the guest has printed a line since the last look at the simulated time.
        self._heard = False

    async def until(self, process: asyncio.subprocess.Process) -> None:
        """Wait until gem5 has ended successfully; UserError otherwise."""
        moved = time.monotonic()
        while True:
            ended = process.returncode is not None
            self._weigh(process.pid)
            if self._read():
                moved = time.monotonic()
            if ended:
                break
            if time.monotonic() - moved > STALL_S:
                raise self._failure(f"gem5 has made no progress for {STALL_S:.0f} s")
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), POLL_S)
        if process.returncode or not (self._out / "facts.json").is_file():
            raise self._failure(self._why(process.returncode))

    def _weigh(self, pid: int) -> None:
        """Note the resident memory of the process; UserError if it is above the limit."""
        # A process that has ended has no memory, but its last memory is of interest.
        self._resident = resident_bytes(pid) or self._resident
        self._guest.resident_peak = max(self._guest.resident_peak, self._resident)
        if self._resident > GEM5_LIMIT:
            raise self._failure(
                f"gem5 has {_gb(self._resident)} of resident memory, and the limit is {_gb(GEM5_LIMIT)}: "
                f"{SMALLER[self._stage]}"
            )

    def _read(self) -> bool:
        console, progress = self._console.lines(), self._progress.lines()
        self._heard |= bool(console)
        for line in console:
            if reported := word(line):
                if reported.failure:
                    raise self._failure(reported.failure)
                self._guest.printed = reported.stage
        for line in progress:
            shown = json.loads(line)
            self._done = self._before + shown["instructions"]
            self._first = self._first or Pace(time.monotonic(), self._done)
            self._guest.pace = self._guest.pace or self._first
            if self._heard or self._guest.ticks is None:
                self._heard, self._guest.ticks = False, shown["ticks"]
            elif shown["ticks"] - self._guest.ticks > SILENCE_S * TICKS_PER_S:
                raise self._failure(f"the guest hangs: it has printed nothing for {SILENCE_S:.0f} s of simulated time")
        self._show()
        return bool(console or progress)

    def _show(self) -> None:
        stage, details = boot_stage(self._guest.printed) if self._stage == "boot" else (STAGES[self._stage], ())
        speed = self._first.per_s(self._done) if self._first else 0.0
        pace = self._guest.pace.per_s(self._done) if self._guest.pace else 0.0
        of_total = f" of {self._total / 1e6:.0f}" if self._total else ""
        details = (
            f"{self._done / 1e6:.0f}{of_total} M instructions",
            *([f"{speed / 1e6:.2f} MIPS"] if speed else []),
            *([f"{_gb(self._resident)} resident"] if self._resident else []),
            *details,
        )
        # A boot may be longer than the expected number of instructions; then nobody knows how far it is.
        known = self._done < self._total
        left = (self._total - self._done) / pace if known and pace else None
        self._job.update(stage, self._done, self._total if known else 0, details=details, left_s=left)

    def _why(self, code: int | None) -> str:
        if code is not None and code < 0:
            return f"{self._killer(signal.Signals(-code))}{self._guest.resumed}"
        return f"gem5 ended with code {code}: {complaint(log_text(self._out / LOG))}"

    def _killer(self, by: signal.Signals) -> str:
        """Who ended gem5. The kernel sends SIGKILL when the memory is full."""
        killed = out_of_memory_kills()
        if by is signal.SIGKILL and killed is not None and self._killed is not None and killed > self._killed:
            return (
                f"out of memory: the system killed gem5, which had {_gb(self._resident)} of resident memory; end other "
                "programs, or run fewer simulations in parallel (--jobs 1)"
            )
        return f"gem5 was ended by signal {by.name}"

    def _failure(self, reason: str) -> UserError:
        return UserError(f"{self._stage} in gem5: {reason}; last lines of the console:{tail(self._out / CONSOLE)}")


def _gb(count: int) -> str:
    return f"{count / 1e9:.1f} GB"
