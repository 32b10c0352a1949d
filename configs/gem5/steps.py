# SPDX-License-Identifier: GPL-2.0-or-later
"""A simulation in steps: what it shows of itself meanwhile, and why it may stop."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import m5
from gem5.components.processors.abstract_processor import AbstractProcessor
from machine_file import MachineError

PROGRESS_S = 1.0

LIMIT = "simulate() limit reached"
FAIL = "m5_fail instruction encountered"


class Progress:
    """A line a second: simulated instructions and time."""

    def __init__(self, processor: AbstractProcessor) -> None:
        self._cores = [core.get_simobject() for core in processor.get_cores()]
        self._file = (Path(m5.options.outdir) / "progress.jsonl").open("w", encoding="utf-8")
        self._then = 0.0

    def instructions(self) -> int:
        """Of all processors since this process began."""
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
    """MachineError unless the simulation may simply go on."""
    cause = event.getCause()
    if cause == FAIL:
        raise MachineError(f"the load generator gave up while {what}; it says why on the console")
    if cause != LIMIT:
        raise MachineError(f"the simulation ended while {what}: {cause}")
