# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a simulation in steps, reports its progress between them, and checks why a step ended."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import m5
from gem5.components.processors.abstract_processor import AbstractProcessor
from machine_file import MachineError
from release import this_release

PROGRESS_S = 1.0


class Progress:
    """Writes one line of progress per second: simulated instructions and simulated time."""

    def __init__(self, processor: AbstractProcessor) -> None:
        self._cores = [core.get_simobject() for core in processor.get_cores()]
        self._file = (Path(m5.options.outdir) / "progress.jsonl").open("w", encoding="utf-8")
        self._then = 0.0

    def instructions(self) -> int:
        """Instructions of all processors since this process began."""
        return sum(core.totalInsts() for core in self._cores)

    def show(self, done: int) -> None:
        now = time.monotonic()
        if now - self._then >= PROGRESS_S:
            self._then = now
            self.line({"instructions": done, "ticks": m5.curTick()})

    def line(self, content: dict[str, Any]) -> None:
        self._file.write(json.dumps(content) + "\n")
        self._file.flush()


def proceed(event: Any, what: str) -> None:
    """Raise MachineError unless the simulation can continue. what: the activity, for the message."""
    cause, exits = event.getCause(), this_release().exits
    if cause == exits.fail:
        raise MachineError(f"the load generator failed while {what}; the console shows the reason")
    if cause != exits.limit:
        raise MachineError(f"the simulation ended while {what}: {cause}")
