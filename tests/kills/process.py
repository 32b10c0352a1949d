# SPDX-License-Identifier: GPL-2.0-or-later
"""The command as a process of its own: start, kill, and the processes that are left. Random draws decide when a command
is killed, with which signal, and which processes get the signal."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from s80lab.commands.run_tables import INVALID

Target = Literal["command", "group"]
MOST_IN_A_ROW = 4


@dataclass(frozen=True)
class Kill:
    """One kill.

    share: the moment, as a share of the command's undisturbed duration.
    number: the signal.
    target: the command alone, or its whole process group.
    """

    share: float
    number: signal.Signals
    target: Target

    @property
    def kind(self) -> str:
        return f"{self.number.name} to the {self.target}"


def draw_kills(seed: int, command: str, number: int) -> list[Kill]:
    """The kills of one round. Equal arguments give equal kills, whatever was drawn before.

    number: the number of the round, from 1.
    """
    draw = random.Random(f"{seed} {command} {number}")
    return [
        Kill(draw.random(), draw.choice((signal.SIGKILL, signal.SIGTERM)), draw.choice(("command", "group")))
        for _ in range(draw.randint(1, MOST_IN_A_ROW))
    ]


LIMIT_S = 600.0
"""Seconds within which every command must end, killed or not."""
LOOKS, BETWEEN_S = 3, 0.1
"""A process survives a kill if it is alive in each of these looks."""
OUTLIVING = ("tar", "cp")
"""Programs that copy files; they end by themselves, and write only to partial files."""
EXITING = 0x4  # PF_EXITING in Linux's include/linux/sched.h
KILLED = 1 << (signal.SIGKILL - 1)


@dataclass(frozen=True)
class Ended:
    """How a command ended. code: as in `subprocess`; None if it did not end within LIMIT_S. killed: the signal came
    before its end."""

    code: int | None
    killed: bool
    output: str
    seconds: float


def execute(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, kill: Kill | None = None, after_s: float = 0.0
) -> Ended:
    """Run a command in a process group of its own until its end. kill: sent after `after_s` seconds."""
    path = folder / "output.txt"
    began = time.monotonic()
    with path.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    sent = False
    try:
        if kill is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(after_s)
            sent = process.poll() is None
            if sent:
                (os.kill if kill.target == "command" else os.killpg)(process.pid, kill.number)
        code: int | None = process.wait(LIMIT_S)
        if code == INVALID:  # the run is complete; at scale tiny no run is valid
            code = 0
    except subprocess.TimeoutExpired:
        code = None
    finally:
        with suppress(ProcessLookupError):  # nothing runs on if the harness is interrupted
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    killed = sent and code != 0
    return Ended(code, killed, path.read_text(encoding="utf-8", errors="replace"), time.monotonic() - began)


def survivors(mark: str) -> list[str]:
    """Programs that are still alive and have `mark` in their environment, without those in OUTLIVING.

    Linux signals the children of a process before the process can be waited for, so a child that does not die with its
    parent is alive in every look.
    """
    alive = _alive(mark)
    for _ in range(LOOKS - 1):
        if not alive:
            break
        time.sleep(BETWEEN_S)
        later = _alive(mark)
        alive = {process: later[process] for process in alive if process in later}
    return sorted(program for program in alive.values() if program not in OUTLIVING)


def until_none(mark: str) -> bool:
    """Wait until no process has `mark` in its environment. False if one is left after LIMIT_S, and is killed then."""
    deadline = time.monotonic() + LIMIT_S
    while alive := _alive(mark):
        if time.monotonic() > deadline:
            end_survivors(mark)
            return False
        time.sleep(BETWEEN_S / (1 + len(alive)))
    return True


def end_survivors(mark: str) -> None:
    """Kill the processes that have `mark` in their environment."""
    for process in _alive(mark):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _alive(mark: str) -> dict[int, str]:
    """Number and program of each process that has `mark` in its environment and is not about to end."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has ended, or belongs to another user
            if mark.encode() not in (folder / "environ").read_bytes():
                continue
            status = dict(
                line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line
            )
            pending = int(status["SigPnd"], 16) | int(status["ShdPnd"], 16)
            flags = int((folder / "stat").read_text().rpartition(")")[2].split()[6])
            if status["State"][0] not in "ZX" and not pending & KILLED and not flags & EXITING:
                found[int(folder.name)] = status["Name"]
    return found
