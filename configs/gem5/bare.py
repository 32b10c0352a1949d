# SPDX-License-Identifier: GPL-2.0-or-later
"""A cache hierarchy without caches, with processors on the memory bus. The guest boots and warms up on it under
AtomicSimpleCPU. The NoCache of gem5's standard library panics in full-system runs, because its bus tracks the holders
of lines."""

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
