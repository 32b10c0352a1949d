# SPDX-License-Identifier: GPL-2.0-or-later
"""No caches: processors on the memory bus, for booting and warming a guest under AtomicSimpleCPU. A cache hierarchy of
gem5's standard library (its own NoCache panics in full-system runs: its bus tracks who holds lines)."""

from __future__ import annotations

from typing import Any

from gem5.components.cachehierarchies.classic.no_cache import NoCache
from m5.objects import BadAddr, SystemXBar
from m5.params import NULL


class Bare(NoCache):
    """The memory bus without a snoop filter."""

    def __init__(self) -> None:
        super().__init__(membus=_bus())


def _bus() -> Any:
    bus = SystemXBar(width=64, snoop_filter=NULL)
    bus.badaddr_responder = BadAddr()
    bus.default = bus.badaddr_responder.pio
    return bus
