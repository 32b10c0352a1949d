# SPDX-License-Identifier: GPL-2.0-or-later
"""The measured region in sampling intervals (`interval`). After each one the statistics are dumped and reset."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import m5
from calls import Calls
from release import this_release
from steps import Progress, proceed

# Simulated time between two looks at the instructions: intervals end at the first look after their last instruction.
STEP = 10**12 // 200_000


@dataclass(frozen=True)
class Region:
    """interval: instructions per sampling interval. intervals: their maximum number. The first `warm` of them fill the
    caches. transactions: the region ends when this many transactions have ended after those (0: all intervals are
    run)."""

    interval: int
    intervals: int
    warm: int
    transactions: int

    def measure(self, progress: Progress, calls: Calls) -> list[dict[str, Any]]:
        """Run the region. Return for each sampling interval its instructions, ticks, ended transactions by work item,
        and counted calls."""
        measured: list[dict[str, Any]] = []
        before = ended = 0
        m5.stats.reset()
        for number in range(self.intervals):
            counted = self.transactions and number >= self.warm
            left = self.transactions - ended if counted else 0
            begin, called = m5.curTick(), calls.counts()
            instructions, items = self._interval(progress, before, left)
            m5.stats.dump()
            m5.stats.reset()
            before += instructions
            ended += items.total() if counted else 0
            measured.append(
                {
                    "instructions": instructions,
                    "ticks": m5.curTick() - begin,
                    "transactions": dict(items),
                    "calls": {name: count - called[name] for name, count in calls.counts().items()},
                }
            )
            progress.line({"interval": len(measured), "instructions": before, "ticks": m5.curTick()})
            if counted and ended >= self.transactions:
                break
        return measured

    def _interval(self, progress: Progress, before: int, left: int) -> tuple[int, Counter[int]]:
        """Instructions and ended transactions of one sampling interval. The last interval ends early, with the last of
        the transactions that are left."""
        # The board leaves the simulation where the load generator says that a transaction begins or ends (markers.h).
        exits = this_release().exits
        begin = progress.instructions()
        items: Counter[int] = Counter()
        while True:
            done = progress.instructions() - begin
            progress.show(before + done)
            if done >= self.interval or (left and items.total() >= left):
                return done, items
            event = m5.simulate(STEP)
            if event.getCause() == exits.work_end:
                items[event.getCode()] += 1
            elif event.getCause() != exits.work_begin:
                proceed(event, "a sampling interval was measured")
