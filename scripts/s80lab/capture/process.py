# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution of one s80-replay process, with progress; a failure becomes a UserError."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from s80lab.base import host, paths
from s80lab.base.errors import UserError
from s80lab.base.programs import built
from s80lab.capture.store import error_sentence
from s80lab.guest.process import dies_with_us

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Played:
    """The totals that s80-replay prints at its end. seconds: wall-clock time of the host."""

    events: int
    accesses: int
    instructions: int
    seconds: float

    @property
    def mips(self) -> float:
        return self.instructions / self.seconds / 1e6 if self.seconds else 0.0


async def play(
    capture: Path,
    machine: Path,
    protocol: Path,
    out: Path,
    progress: Progress,
    *,
    alone: bool = True,
) -> Played:
    """Replay the capture into `out`/snapshots.jsonl. The process ends if this one ends.

    progress: is called with the instructions played and their total. alone: no other replay runs at the same time, so a
    second core may read the capture ahead.
    """
    read_ahead = "yes" if alone and host.cores() > 1 else "no"
    arguments = {
        "capture": capture,
        "machine": machine,
        "protocol": protocol,
        "out": out,
        "read_ahead": read_ahead,
    }
    process = await asyncio.create_subprocess_exec(
        *dies_with_us(),
        str(built(paths.REPLAY)),
        *(f"{key}={value}" for key, value in arguments.items()),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    complaint = asyncio.ensure_future(process.stderr.read())
    last = ""
    try:
        async for raw in process.stdout:
            line = raw.decode("utf-8", "replace").strip()
            if line.startswith("progress "):
                done, total = line.split()[1:3]
                progress(int(done), int(total))
            elif line:
                last = line
        code = await process.wait()
        stderr = (await complaint).decode("utf-8", "replace")
    finally:
        complaint.cancel()
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if code < 0:
        raise UserError(
            f"the program s80-replay was killed by signal {signal.Signals(-code).name} while it replayed "
            f"{capture}; repeat the command"
        )
    if code:
        raise UserError(error_sentence(stderr))
    try:
        return Played(**json.loads(last))
    except (json.JSONDecodeError, TypeError):
        raise UserError(
            f"the program s80-replay printed an unknown last line, {last[:200]!r}; build the program again "
            "with `make build`"
        ) from None
