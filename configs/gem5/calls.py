# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts how often the processors enter functions of the guest's kernel: interrupts and context switches.

The kernel's own counters cannot be read: under Ruby a cache may hold the newest copy of a line, and memory an old one.
"""

from __future__ import annotations

from gem5.components.boards.abstract_board import AbstractBoard
from m5.objects import PcCountTrackerManager
from m5.params import PcCountPair

# At its count a tracker ends the simulation; it is a C++ int.
NEVER = 2**31 - 1


def parse(text: str) -> dict[str, int]:
    """Addresses by name, from text of the form `name=address,...`."""
    return {name: int(address, 0) for name, _, address in (part.partition("=") for part in text.split(",") if part)}


class Calls:
    """Counts calls. entries: the address of each function's first instruction, by the name of its counter. Create the
    object before the simulation is instantiated."""

    def __init__(self, board: AbstractBoard, entries: dict[str, int]) -> None:
        self._entries = entries
        if not entries:
            return
        targets = [PcCountPair(address, NEVER) for address in entries.values()]
        board.calls = self._manager = PcCountTrackerManager(targets=targets)
        for core in board.get_processor().get_cores():
            core.add_pc_tracker_probe(targets, self._manager)

    def counts(self) -> dict[str, int]:
        """Calls by all processors since this process began."""
        return {name: self._manager.getPcCount(address) for name, address in self._entries.items()}
