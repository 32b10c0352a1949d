# SPDX-License-Identifier: GPL-2.0-or-later
"""How often the processors entered functions of the guest's kernel: its interrupts and context switches.

The kernel's own counters cannot be read: under Ruby the newest copy of a line may be in a cache, and memory's is old.
"""

from __future__ import annotations

from gem5.components.boards.abstract_board import AbstractBoard
from m5.objects import PcCountTrackerManager
from m5.params import PcCountPair

# At its count a tracker ends the simulation; it is a C++ int.
NEVER = 2**31 - 1


def parse(text: str) -> dict[str, int]:
    """Address by name, out of `name=address,...`."""
    return {name: int(address, 0) for name, _, address in (part.partition("=") for part in text.split(",") if part)}


class Calls:
    """entries: address of each function's first instruction by the name that its calls are counted under. To be made
    before the simulation is."""

    def __init__(self, board: AbstractBoard, entries: dict[str, int]) -> None:
        self._entries = entries
        if not entries:
            return
        targets = [PcCountPair(address, NEVER) for address in entries.values()]
        board.calls = self._manager = PcCountTrackerManager(targets=targets)
        for core in board.get_processor().get_cores():
            core.add_pc_tracker_probe(targets, self._manager)

    def counts(self) -> dict[str, int]:
        """Since this process began, of all processors."""
        return {name: self._manager.getPcCount(address) for name, address in self._entries.items()}
