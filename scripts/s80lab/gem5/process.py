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
from pathlib import Path
from typing import Any, Literal

from s80lab.base import paths
from s80lab.base.errors import UserError
from s80lab.base.follow import Follower, tail
from s80lab.base.progress import Job
from s80lab.gem5.binary import complaint
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


async def simulate(
    gem5: Path, stage: Stage, arguments: Mapping[str, object], out: Path, job: Job, instructions: int = 0
) -> dict[str, Any]:
    """Run mail_server.py and return its facts. instructions: the expected number, for the progress (0: unknown)."""
    command = [str(gem5), "--outdir", str(out), str(SCRIPT), stage]
    for name, value in arguments.items():
        command += [f"--{name}", str(value)]
    out.mkdir(parents=True, exist_ok=True)
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
        await _Watch(stage, out, job, instructions).until(process)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    facts: dict[str, Any] = json.loads((out / "facts.json").read_text(encoding="utf-8"))
    return facts


class _Watch:
    """Follows the console and the script's progress file."""

    def __init__(self, stage: Stage, out: Path, job: Job, instructions: int) -> None:
        self._stage = stage
        self._out = out
        self._job = job
        self._total = instructions
        self._console = Follower(out / CONSOLE)
        self._progress = Follower(out / "progress.jsonl")
        self._said = STARTING
        self._done = 0
        self._first: tuple[float, int] | None = None
        # Whether the guest has spoken since the last look at the modelled time, and when it was that it spoke last.
        self._heard = False
        self._spoke: int | None = None

    async def until(self, process: asyncio.subprocess.Process) -> None:
        """Wait until gem5 has ended successfully; UserError otherwise."""
        moved = time.monotonic()
        while True:
            ended = process.returncode is not None
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

    def _read(self) -> bool:
        console, progress = self._console.lines(), self._progress.lines()
        self._heard |= bool(console)
        for line in console:
            if said := word(line):
                if said.failure:
                    raise self._failure(said.failure)
                self._said = said.stage
        for line in progress:
            shown = json.loads(line)
            self._done = shown["instructions"]
            self._first = self._first or (time.monotonic(), self._done)
            if self._heard or self._spoke is None:
                self._heard, self._spoke = False, shown["ticks"]
            elif shown["ticks"] - self._spoke > SILENCE_S * TICKS_PER_S:
                raise self._failure(f"the guest hangs: it has printed nothing for {SILENCE_S:.0f} s of simulated time")
        self._show()
        return bool(console or progress)

    def _show(self) -> None:
        mips = None
        if self._first is not None and time.monotonic() > self._first[0]:
            mips = (self._done - self._first[1]) / (time.monotonic() - self._first[0]) / 1e6
        stage, details = boot_stage(self._said) if self._stage == "boot" else (STAGES[self._stage], ())
        details = (*details, f"{self._done / 1e6:.0f} M", *([f"{mips:.2f} MIPS"] if mips else []))
        self._job.update(stage, min(self._done, self._total), self._total, details=details)

    def _why(self, code: int | None) -> str:
        if code is not None and code < 0:
            return f"gem5 was ended by signal {signal.Signals(-code).name}"
        return f"gem5 ended with code {code}: {complaint((self._out / LOG).read_text(errors='replace'))}"

    def _failure(self, reason: str) -> UserError:
        return UserError(f"{self._stage} in gem5: {reason}; last lines of the console:{tail(self._out / CONSOLE)}")
