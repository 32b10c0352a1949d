# SPDX-License-Identifier: GPL-2.0-or-later
"""Decides where a segment of the boot ends. A segment is what one process of gem5 simulates, up to its checkpoint.

gem5 never forgets a decoded instruction, so its memory grows with the length of a simulation. A process that restores a
checkpoint begins with an empty table. The ends of segments depend on the guest only, never on the host: the same inputs
give the same checkpoints, wherever the boot was interrupted.

The first segment ends when all processors are up, however long it is. gem5 cannot save a checkpoint before: it waits
until each processor is between two instructions, and a processor that has not been started never is.

This module uses neither gem5 nor s80lab, so that the tests can import it.
"""

from __future__ import annotations

import re
from pathlib import Path

# What init prints when the processors are up, the mail store is built and the servers answer.
STAGE_END = re.compile(rb"^s80lab: (?:cpus \d+|store 100%|servers)\r*\n", re.MULTILINE)
LINE_END = b"\n"


class Segment:
    """Watches a segment.

    console: the file of the guest's console, which begins empty in each segment.
    limit: number of instructions after which the segment ends within a stage; None: the segment ends with its stage.
    """

    def __init__(self, console: Path, limit: int | None) -> None:
        self._console = console
        self._limit = limit
        self._bytes = 0
        self._stage_ended = False
        self._within_line = False

    def has_ended(self, instructions: int) -> bool:
        """Whether the segment ends here. instructions: number of instructions since the segment began.

        A segment ends between two lines of the console, so that each line of the console is in one segment.
        """
        self._look()
        long = self._limit is not None and instructions >= self._limit
        return not self._within_line and (self._stage_ended or long)

    def _look(self) -> None:
        try:
            size = self._console.stat().st_size
        except FileNotFoundError:
            return
        if size == self._bytes:
            return
        content = self._console.read_bytes()
        self._bytes = len(content)
        self._within_line = bool(content) and not content.endswith(LINE_END)
        self._stage_ended = STAGE_END.search(content) is not None
