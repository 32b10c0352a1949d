# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the loading of warm caches: Ruby's network must have carried the messages that the model's accesses need.

Ruby resets the transition counts of its controllers after the loading. The network's counts of messages remain, up to
the next reset. They show every request, every forward to the other caches, and every writeback. Two reads that Ruby
answers as one need another number of messages.
"""

from __future__ import annotations

from collections.abc import Mapping

from s80lab.base.errors import UserError
from s80lab.gem5.agree.warm import Warm
from s80lab.gem5.stats import Dump
from s80lab.gem5.table import SYSTEM
from s80lab.trace import tool
from s80lab.trace.setup import Setup

ROW = SYSTEM + "network.msg_count."
HOPS = 2
"""Routers on the way of a message: a network of point-to-point links (configs/gem5/hammer.py)."""
DIRTY, CLEAN = ("MM", "D", "O"), ("E", "OC")
"""States whose eviction writes data back, and states whose eviction only tells the directory."""


def check_loading(dump: Dump, warm: Warm, setup: Setup) -> bool:
    """Compare the messages of the loading. UserError: they differ, so the caches do not have the wanted contents.

    Returns whether the dump has the counts: a release of gem5 may reset them together with the transitions.
    """
    found = {name: dump.number(ROW + name) for name in messages({}, 1)}
    if not any(found.values()):
        return False
    facts = warm.facts
    counts = tool.spare_counts(warm.order, setup, facts["spare_cores"], facts["spare_sets"])
    processors = setup.machine.processors
    for name, wanted in messages(
        counts, processors.count // processors.threads_per_core + facts["spare_cores"]
    ).items():
        if found[name] != wanted:
            raise UserError(
                f"{dump.where}: gem5 did not load the caches exactly: the network carried {found[name]:.0f} messages "
                f"{name}, and the model needs {wanted}; run `s80lab gem5 check` with this gem5"
            )
    return True


def messages(counts: Mapping[str, int], cores: int) -> dict[str, int]:
    """The network's counts of messages that the model's counts (src/replay/order_count.h) need, by type. cores: with
    the spare cores."""
    requests = sum(count for name, count in counts.items() if name.startswith("request."))
    dirty, clean = (sum(counts.get(f"evict.{state}", 0) for state in states) for states in (DIRTY, CLEAN))
    return {
        # The request to the directory, which forwards it to all other caches.
        "Request_Control": HOPS * requests,
        "Broadcast_Control": HOPS * requests * (cores - 1),
        # The request to write back, the answer, and, for a clean block, the message that ends the transaction.
        "Writeback_Control": HOPS * (2 * dirty + 3 * clean),
        "Writeback_Data": HOPS * dirty,
    }
